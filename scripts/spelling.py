#!/usr/bin/env python3
"""Finds common misspellings in documents and comments, without a dictionary or network. Called by invariants.sh."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# wrong=right; `~` stands for a blank.
WORDS = dict(pair.split("=") for pair in """
accomodate=accommodate acheive=achieve accross=across adress=address agressive=aggressive alledged=alleged alot=a~lot
anonymisation=anonymization anonymise=anonymize anonymised=anonymized anonymitiy=anonymity aparent=apparent
aquire=acquire arguement=argument assymetric=asymmetric becuase=because begining=beginning
beleive=believe boundries=boundaries calender=calendar catagory=category charachter=character coloum=column colum=column
columm=column comitted=committed commited=committed comparision=comparison compatability=compatibility completly=completely
concious=conscious consistant=consistent contians=contains correponding=corresponding critera=criteria definately=definitely
definiton=definition dependancy=dependency desciption=description developement=development
diagonsis=diagnosis differenciate=differentiate disapear=disappear distict=distinct distiguish=distinguish
distribuition=distribution diveristy=diversity divsersity=diversity embarass=embarrass enviroment=environment
equivalance=equivalence exagerate=exaggerate excercise=exercise existance=existence explaination=explanation
familar=familiar feasability=feasibility finaly=finally foward=forward freqency=frequency
garantee=guarantee generaliztion=generalization generalisation=generalization goverment=government gaurantee=guarantee
heirarchy=hierarchy hierachy=hierarchy hierarchie=hierarchy higest=highest identifer=identifier idependent=independent
immediatly=immediately implemention=implementation independant=independent infomation=information inital=initial
intial=initial intermediatly=intermediately interupt=interrupt knowlege=knowledge largests=largest
lenght=length liason=liaison libary=library likelyhood=likelihood maintainance=maintenance maintenence=maintenance
managment=management measurment=measurement mesure=measure minmal=minimal mispelled=misspelt monotonicty=monotonicity
neccessary=necessary necesary=necessary noticable=noticeable occassion=occasion occured=occurred
occurence=occurrence occuring=occurring ommited=omitted ommitted=omitted optmal=optimal orginal=original paramater=parameter
parameteres=parameters partion=partition particularily=particularly peformance=performance permision=permission
persistant=persistent posible=possible posession=possession preceeding=preceding precison=precision prefered=preferred
privelege=privilege probabilty=probability proccess=process proprietry=proprietary psuedo=pseudo publicaly=publicly
quasiidentifier=quasi-identifier recieve=receive recomend=recommend recource=resource refered=referred releated=related
relase=release realease=release requirment=requirement requried=required resouce=resource responsability=responsibility
sensitve=sensitive sensative=sensitive seperate=separate seperator=separator signficant=significant similiar=similar
statment=statement stong=strong succesful=successful successfull=successful sucess=success
supress=suppress supression=suppression supressed=suppressed surpress=suppress symetric=symmetric tabel=table teh=the
themself=themselves thier=their threshhold=threshold tranform=transform transfered=transferred
truely=truly tupel=tuple unecessary=unnecessary unkown=unknown unqiue=unique untill=until usefull=useful utilty=utility
verfiy=verify verfication=verification visable=visible wether=whether wich=which writen=written
""".split())
WRONG = re.compile(r"\b(" + "|".join(WORDS) + r")\b", re.I)
TWICE = re.compile(r"\b(the|a|an|of|to|and|are|in|that|with|for|as|be|by|it|or|at) \1\b")


def prose(path):
    """Lines of documents; comments of sources."""
    text = path.read_text(encoding="utf-8")
    code = path.suffix != ".md"
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if not code and line.startswith("```"):
            inside = not inside
        if inside or (code and not re.match(r"\s*(//|#)", line)):
            continue
        yield number, re.sub(r"`[^`]*`", "", line)


def main():
    folders = ["*.md", "docs/*.md", "crates/*/src/**/*.rs", "crates/*/tests/**/*.rs", "python/**/*.py", "python/src/*.rs", "scripts/*"]
    wrong = []
    for path in sorted(p for pattern in folders for p in ROOT.glob(pattern) if p.is_file() and p.name != "spelling.py"):
        for number, line in prose(path):
            for found in WRONG.findall(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: `{found}`: {WORDS[found.lower()].replace('~', ' ')}?")
            wrong += [f"{path.relative_to(ROOT)}:{number}: `{word} {word}`" for word in TWICE.findall(line)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
