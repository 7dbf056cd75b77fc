"""Constructors of models, hierarchies, algorithms, metrics and attacks.

Made from the registries by scripts/stubs.py; do not edit.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._values import Algorithm, Attack, Hierarchy, Metric, Number, Requirement

REGISTRIES: dict[str, Any]

def identifier(name: str) -> str: ...
def example(builder: dict[str, Any]) -> Any: ...
def shape(builder: dict[str, Any]) -> str: ...
def parameters_of(entry: dict[str, Any]) -> list[tuple[str, inspect.Parameter]]: ...
def hierarchy_parameters(builder: dict[str, Any]) -> list[inspect.Parameter]: ...

def k_anonymity(k: int) -> Requirement:
    """k-anonymity

    n ≥ k: every class has at least k rows

    Parameters:
        k: the least number of rows a class may have

    Source: Samarati & Sweeney 1998; Sweeney 2002; survey Definition 2
    """

def distinct_l_diversity(l: int, *, on: str | Sequence[str] | None = None) -> Requirement:
    """distinct l-diversity

    at least l distinct sensitive values in every class

    Parameters:
        l: the least number of distinct values a class may have

    Source: Sun, Li & Wang 2010, Definition 2; Machanavajjhala et al. 2007
    """

def entropy_l_diversity(l: Number, dont_care: Sequence[str] | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """entropy l-diversity

    −Σ p log p ≥ log l in every class; with a don't-care set, the adjusted entropy ≥ log l

    Parameters:
        l: the number of equally frequent values to be as diverse as, 1 or more
        dont_care: values that may be disclosed

    Source: Machanavajjhala et al. 2007, Definitions 4.1 and 4.5, Algorithm 1
    """

def recursive_c_l_diversity(c: Number, l: int, *, on: str | Sequence[str] | None = None) -> Requirement:
    """recursive (c, l)-diversity

    r₁ < c·(r_l + … + r_m) over the sorted counts of every class

    Parameters:
        c: how many times the tail the most frequent value must stay below
        l: one more than the number of frequent values left out of the tail

    Source: Machanavajjhala et al. 2007, Definition 4.2
    """

def pd_recursive_c_l_diversity(c: Number, l: int, dont_care: Sequence[str] | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """positive disclosure-recursive (c, l)-diversity

    recursive (c, l)-diversity for the most frequent value outside the don't-care set

    Parameters:
        c: how many times the tail the most frequent value must stay below
        l: one more than the number of frequent values left out of the tail
        dont_care: values that may be disclosed

    Source: Machanavajjhala et al. 2007, Definition 4.3
    """

def npd_recursive_c1_c2_l_diversity(c1: Number, c2: Number, l: int, dont_care: Sequence[str] | None = None, no_negative: Sequence[str] | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """negative/positive disclosure-recursive (c₁, c₂, l)-diversity

    pd-recursive (c₁, l)-diversity, and every value of W is at least c₂ percent of the class

    Parameters:
        c1: how many times the tail the most frequent value must stay below
        c2: the least percentage of each value of `no_negative`, 0 to 100
        l: one more than the number of frequent values left out of the tail
        dont_care: values that may be disclosed
        no_negative: values that nobody may be known not to have

    Source: Machanavajjhala et al. 2007, Definition 4.4
    """

def p_sensitive_k_anonymity(p: int, k: int, *, on: str | Sequence[str] | None = None) -> Requirement:
    """p-sensitive k-anonymity

    n ≥ k and at least p distinct sensitive values in every class

    Parameters:
        p: the least number of distinct values a class may have
        k: the least number of rows a class may have

    Source: Truta & Vinay 2006; Sun, Li & Wang 2010, §1.1
    """

def simple_alpha_k_anonymity(alpha: Number, value: str, k: int, *, on: str | Sequence[str] | None = None) -> Requirement:
    """simple (α, k)-anonymity

    n ≥ k and n_s/n ≤ α for one stated value s, in every class

    Parameters:
        alpha: the largest share of the value, 0 to 1
        value: the value whose share is bounded
        k: the least number of rows a class may have

    Source: Wong et al. 2006; survey Definition 9
    """

def general_alpha_k_anonymity(alpha: Number, k: int, *, on: str | Sequence[str] | None = None) -> Requirement:
    """general (α, k)-anonymity

    n ≥ k and n_s/n ≤ α for every sensitive value s, in every class

    Parameters:
        alpha: the largest share of any value, 0 to 1
        k: the least number of rows a class may have

    Source: Wong et al. 2006; survey Definition 12
    """

def complete_alpha_k_anonymity(alpha: Mapping[str, Number], k: int, *, on: str | Sequence[str] | None = None) -> Requirement:
    """complete (α, k)-anonymity

    n ≥ k and n_s/n ≤ α_s for every sensitive value s with a bound α_s, in every class

    Parameters:
        alpha: the largest share of each value, as { Flu = 0.5, HIV = 0.1 }
        k: the least number of rows a class may have

    Source: survey Definition 7
    """

def distinct_l_alpha_diversity(l: int, alpha: Number, categories: Sequence[Sequence[str]] | None = None, weights: str | Mapping[str, Number] | Sequence[Number] | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """distinct (l, α)-diversity

    at least l distinct sensitive values and Σ over rows of weight(category) ≥ α, in every class

    Parameters:
        l: the least number of distinct values a class may have
        alpha: what the weights of a class's rows must add up to, at least
        categories: lists of values, the most sensitive first
        weights: "uniform", { sensitivity = β } or a list of weights

    Source: Sun, Li & Wang 2010, Definition 4
    """

def entropy_l_alpha_diversity(l: Number, alpha: Number, categories: Sequence[Sequence[str]] | None = None, weights: str | Mapping[str, Number] | Sequence[Number] | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """entropy (l, α)-diversity

    distinct (l, α)-diversity, and −Σ p log p ≥ log l over the categories of every class

    Parameters:
        l: the number of equally frequent categories to be as diverse as
        alpha: what the weights of a class's rows must add up to, at least
        categories: lists of values, the most sensitive first
        weights: "uniform", { sensitivity = β } or a list of weights

    Source: Sun, Li & Wang 2010, Definition 5
    """

def recursive_c_l_alpha_diversity(c: Number, l: int, alpha: Number, categories: Sequence[Sequence[str]] | None = None, weights: str | Mapping[str, Number] | Sequence[Number] | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """recursive (c, l, α)-diversity

    distinct (l, α)-diversity, and r₁ < c·(r_l + … + r_m) over the category counts of every class

    Parameters:
        c: how many times the tail the most frequent category must stay below
        l: the least number of distinct values, and where the tail begins
        alpha: what the weights of a class's rows must add up to, at least
        categories: lists of values, the most sensitive first
        weights: "uniform", { sensitivity = β } or a list of weights

    Source: Sun, Li & Wang 2010, Definition 6
    """

def t_closeness(t: Number, distance: Literal['equal', 'ordered', 'hierarchical', 'kl', 'js'] | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """t-closeness

    distance(class distribution, table distribution) ≤ t, in every class; the table is the input, and then also the release itself

    Parameters:
        t: the largest distance from the table a class may have
        distance: how distributions are compared; `equal` when absent

    Source: Li, Li & Venkatasubramanian 2007, Definition 2; survey Definition 6
    """

def bayes_optimal(rho1: Number, rho2: Number, population: Any, *, on: str | Sequence[str] | None = None) -> Requirement:
    """Bayes-optimal (ρ₁, ρ₂)-privacy

    for every tuple and value neither α < ρ₁ ∧ β > ρ₂ nor α > 1 − ρ₁ ∧ β < 1 − ρ₂, prior α, posterior β

    Parameters:
        rho1: a prior belief below this counts as unlikely, 0 to 1
        rho2: an unlikely value may be believed up to this, 0 to 1
        population: a table of the people the data were drawn from

    Source: Machanavajjhala et al. 2007, Definition 3.3 and Theorem 3.1; Evfimievski et al. 2003
    """

def belief_difference(max: Number, population: Any, *, on: str | Sequence[str] | None = None) -> Requirement:
    """bounded difference of prior and posterior belief

    |β − α| ≤ max for every tuple and value, prior α, posterior β

    Parameters:
        max: the largest change of any belief, 0 to 1
        population: a table of the people the data were drawn from

    Source: Machanavajjhala et al. 2007, §3.2 (uninformative principle) and Theorem 3.1
    """

def delta_disclosure(delta: Number, *, on: str | Sequence[str] | None = None) -> Requirement:
    """δ-disclosure privacy

    |ln(p_s/q_s)| < δ for every value s of the table, in every class; the table is the input, and then also the release itself

    Parameters:
        delta: what every |ln(p/q)| must stay below, more than 0

    Source: Brickell & Shmatikov 2008, Definition 2
    """

def beta_likeness(beta: Number, enhanced: bool | None = None, *, on: str | Sequence[str] | None = None) -> Requirement:
    """β-likeness

    (p_s − q_s)/q_s ≤ β (enhanced: ≤ min(β, −ln q_s)) for every s with p_s > q_s, in every class; q is of the input, and then also of the release itself

    Parameters:
        beta: the largest relative gain of a value's share, 0 or more
        enhanced: bound the gain by −ln of the value's share too

    Source: Cao & Karras 2012, Definitions 2 and 3
    """

def k_map(k: int, population: Any) -> Requirement:
    """k-map

    at least k people of the population share the generalized tuple of every class

    Parameters:
        k: the least number of people a class must match in the population
        population: a table of the people the data were drawn from

    Source: Sweeney 2001; as in ARX and Google Sensitive Data Protection
    """

def delta_presence(max: Number, population: Any, min: Number | None = None) -> Requirement:
    """δ-presence

    min ≤ rows of the class / people of the population that it matches ≤ max, in every class

    Parameters:
        min: the least share of matching people that are in the data; 0 when absent
        max: the largest share of matching people that are in the data, 0 to 1
        population: a table of the people the data were drawn from

    Source: Nergiz, Atzori & Clifton 2007, Definition 2; as in ARX
    """

def average_risk(threshold: Number) -> Requirement:
    """average risk

    classes / rows ≤ threshold, over the whole release

    Parameters:
        threshold: the largest average risk of re-identification, 0 to 1

    Source: El Emam 2013; as in ARX
    """

def sample_uniqueness(threshold: Number) -> Requirement:
    """sample uniqueness

    rows alone in their class / rows ≤ threshold, over the whole release

    Parameters:
        threshold: the largest share of rows that are unique, 0 to 1

    Source: Dalenius 1986; as in ARX
    """

def max_risk(threshold: Number) -> Requirement:
    """maximum risk

    1 / smallest class ≤ threshold, over the whole release

    Parameters:
        threshold: the largest risk of re-identification of any row, 0 to 1

    Source: El Emam 2013; as in ARX
    """

def m_invariance(m: int, *, on: str | Sequence[str] | None = None) -> Requirement:
    """m-invariance

    in every version of a series, classes made of m-unique groups: n ≥ m·r₁; and everybody keeps the set of values they are published with

    Parameters:
        m: the least number of candidate values for everybody

    Source: Xiao & Tao, SIGMOD 2007, Definitions 4–6
    """

def file(path: str, *, separator: str | None = None) -> Hierarchy:
    """file

    A file with one line per value and one column per level, the value itself first, without a header. The separator is guessed when it is not stated.

    In a policy: hierarchy = { file = "zip.csv", separator = ";" }
    """

def intervals(*values: Number | Sequence[Number], origin: Number | None = None, bottom: Number | None = None, top: Number | None = None, digits: str | None = None) -> Hierarchy:
    """intervals

    Numbers in intervals of the given widths, one width a level; each is a multiple of the one before. `bottom` and `top` code the tails. Intervals of decimals are written with one digit more than the widths have, `[60.0-79.9]`, or with `digits`; values with more digits are rounded down.

    In a policy: hierarchy = { intervals = [5, 10, 20], origin = 0, bottom = 0, top = 100 }
    """

def ranges(*values: Sequence[Number], digits: str | None = None) -> Hierarchy:
    """ranges

    Numbers between the given break points, one list a level; each list holds some break points of the one before. Ranges of decimals are written with one digit more than the break points have, or with `digits`.

    In a policy: hierarchy = { ranges = [[18, 30, 45, 65], [45]] }
    """

def mask(length: Number | None = None, from_: str | None = None, character: str | None = None) -> Hierarchy:
    """mask

    Codes of `length` characters, masked from the right or the left, one more character a level: 14248, 1424*, 142**, …, *. Without `length`, the longest value counts. `masked = [2, 4]` makes levels of these numbers of masked characters only.

    In a policy: hierarchy = { mask = { length = 5, from = "right", character = "*" } }
    """

def taxonomy(tree: Mapping[str, Any] | str) -> Hierarchy:
    """taxonomy

    A nested tree of groups. A value that hangs higher than others is repeated upward until it meets its group. A text names a JSON file that holds the tree.

    In a policy: hierarchy = { taxonomy = { Any = { America = ["USA", "Canada"], Asia = ["Japan"] } } }
    """

def dates(*values: str | Sequence[str], written: str | None = None) -> Hierarchy:
    """dates

    Calendar dates by unit, finer first: day, week, month, quarter, year, decade. Weeks nest in no other unit. With `written = "d-m-y"` or "m-d-y" dates are read in this order.

    In a policy: hierarchy = { dates = ["month", "year", "decade"] }
    """

def order(*values: str | Sequence[str], groups: Sequence[Number] | None = None) -> Hierarchy:
    """order

    An ordered list of values, in groups of neighbours; one group size a level, each a multiple of the one before.

    In a policy: hierarchy = { order = ["9th", "10th", "11th", "12th"], groups = [2, 4] }
    """

def common(*values: str | Sequence[str], others: str | None = None) -> Hierarchy:
    """common

    The values listed stay as they are at level 1, all others become one group, called `others` (`other` where it is not stated).

    In a policy: hierarchy = { common = ["Married", "Single"], others = "other" }
    """

def prefix(path: str) -> Hierarchy:
    """prefix

    Level 1 is what stands before the first of the characters given: with "-/", Clerk-senior and Clerk/junior become Clerk.

    In a policy: hierarchy = { prefix = "-/" }
    """

def icd10() -> Hierarchy:
    """icd10

    Codes of ICD-10, with or without a point: the category (I21), then the chapter (I00-I99), then `*`.

    In a policy: hierarchy = { icd10 = true }
    """

def countries() -> Hierarchy:
    """countries

    Countries by their English names or ISO 3166-1 codes: the continent, then `*`.

    In a policy: hierarchy = { countries = true }
    """

def suppress() -> Hierarchy:
    """suppress

    The value itself or `*`: a hierarchy of height 1.

    In a policy: hierarchy = { suppress = true }
    """

def incognito() -> Algorithm:
    """Incognito

    every minimal full-domain generalization, by a bottom-up walk of the lattice with subset pruning; hands over the one of least cost

    Source: LeFevre, DeWitt & Ramakrishnan 2005; ℓ-diversity article §5
    """

def optimal() -> Algorithm:
    """optimal full-domain

    the full-domain generalization of least cost by the chosen metric, exactly, by branch and bound over the lattice

    Source: the setting of LeFevre et al. 2005 and El Emam et al. 2009, solved exactly for any metric
    """

def samarati() -> Algorithm:
    """Samarati

    a generalization of least height that satisfies the policy with at most the allowed number of suppressed rows, by binary search on the height

    Source: Samarati 2001; survey Definition 4
    """

def top_down() -> Algorithm:
    """Top-down specialization

    specializes fully generalized rows level by level as long as every class satisfies the policy; rows that cannot follow stay behind in a valid class of their own

    Source: (l,α) paper Algorithm 1
    """

def mondrian(relaxed: bool | None = None, cut: Literal['loss', 'median'] | None = None) -> Algorithm:
    """Mondrian

    cuts the table in two, again and again, where the cut lowers the information loss most and both sides satisfy the policy

    Parameters:
        relaxed: whether rows with equal values may go to different sides of a cut (default false)
        cut: where to cut: where the loss falls most, or at the median of the widest column (default loss)

    Source: LeFevre, DeWitt & Ramakrishnan, ICDE 2006
    """

def systematic(exact: bool | None = None, reading: Literal['growth', 'paper'] | None = None, order: Literal['sorted', 'input'] | None = None, starts: int | Sequence[int] | None = None) -> Algorithm:
    """Systematic clustering

    begins ⌊n/k⌋ clusters at every k-th row of the sorted table, lets every other row join where the information loss grows least, and dissolves the clusters that fail the policy. It departs from the paper in that a row joins where the loss grows least, not the cluster that loses least with it, and in that clusters have max(k, l) rows, or more where hardly any of that size satisfies the policy; the options give the paper's own reading

    Parameters:
        exact: whether to look at every row or class, as published, instead of using an index. The index looks at the 64 most promising of its leaves, up to 512 rows or classes: in tables with more of them it may settle for a neighbour that is hardly farther than the nearest, because proving which is nearest takes most of the time. Classes then differ and the loss hardly does: by 0.5 % at the most, either way, for k-member on samples of 8,000 rows of Adult (default false)
        reading: growth: a row joins the cluster whose loss grows least, and clusters are as large as the policy needs; paper: it joins the cluster that loses least with it, as published, and clusters have the policy's k (default growth)
        order: sorted: by the quasi columns; input: as they come, for a table that is sorted already (default sorted)
        starts: the rows among the first k from which the strides go, in their order, each from 1 to k once, such as [2, 3, 1] (default a random order)

    Source: systematic clustering paper Tables 4 and 5
    """

def k_member(exact: bool | None = None) -> Algorithm:
    """k-member clustering

    builds one class after the other, each from the row farthest from the last class's first, adding the rows with which its information loss grows least

    Parameters:
        exact: whether to look at every row or class, as published, instead of using an index. The index looks at the 64 most promising of its leaves, up to 512 rows or classes: in tables with more of them it may settle for a neighbour that is hardly farther than the nearest, because proving which is nearest takes most of the time. Classes then differ and the loss hardly does: by 0.5 % at the most, either way, for k-member on samples of 8,000 rows of Adult (default false)

    Source: Byun, Kamra, Bertino & Li, DASFAA 2007
    """

def one_pass_k_means(exact: bool | None = None) -> Algorithm:
    """One-pass k-means

    one round of k-means over ⌊n/k⌋ random centres; then rows move from clusters with more than k rows to those with fewer

    Parameters:
        exact: whether to look at every row or class, as published, instead of using an index. The index looks at the 64 most promising of its leaves, up to 512 rows or classes: in tables with more of them it may settle for a neighbour that is hardly farther than the nearest, because proving which is nearest takes most of the time. Classes then differ and the loss hardly does: by 0.5 % at the most, either way, for k-member on samples of 8,000 rows of Adult (default false)

    Source: Lin & Wei, PAIS 2008
    """

def alpha_k_clustering(exact: bool | None = None) -> Algorithm:
    """(α,k) clustering

    merges classes smaller than k with their nearest compatible class until all have between k and 2k − 1 rows; compatible classes stay below 2k rows and within the bounds on every sensitive value. Stricter readings of the policy (larger k, smaller shares) are tried too, and the one that loses least is kept

    Parameters:
        exact: whether to look at every row or class, as published, instead of using an index. The index looks at the 64 most promising of its leaves, up to 512 rows or classes: in tables with more of them it may settle for a neighbour that is hardly farther than the nearest, because proving which is nearest takes most of the time. Classes then differ and the loss hardly does: by 0.5 % at the most, either way, for k-member on samples of 8,000 rows of Adult (default false)

    Source: survey §5
    """

def portfolio() -> Algorithm:
    """Portfolio

    runs the local algorithms that suit the policy, improves the best result by moving and exchanging rows between neighbouring classes, and keeps the release with the least information loss

    Source: beyond the papers; each candidate has its own
    """

def cell_suppression() -> Algorithm:
    """cell suppression

    one level of its hierarchy for each column, and single cells of rows that do not fit become `*`, those that lose least first; classes are judged by exact match, a `*` being a value

    Source: the setting of Aggarwal et al. 2005 and of sdcMicro's kAnon, with exact match and any monotone requirement
    """

def height() -> Metric:
    """generalization height

    the sum of the levels of the quasi columns (full-domain releases only)

    Source: Samarati 2001; ℓ-diversity article §6
    """

def average_class_size() -> Metric:
    """normalized average class size (CAVG)

    (rows / classes) / k, with the policy's k (1 when it has none)

    Source: LeFevre, DeWitt & Ramakrishnan 2006; ℓ-diversity article §6
    """

def discernibility() -> Metric:
    """discernibility (DM)

    Σ n² over the classes + suppressed × rows

    Source: Bayardo & Agrawal 2005; ℓ-diversity article §6
    """

def kl_divergence() -> Metric:
    """Kullback–Leibler divergence

    Σ F̂(x) ln(F̂(x)/F̂*(x)) over the distinct rows x of the input: F̂ their shares, F̂*(x) = Σ over the classes that cover x of n_{class,s}/(N · area); suppressed rows are one class that covers everything

    Source: Kifer & Gehrke 2006; ℓ-diversity article §6
    """

def information_loss() -> Metric:
    """information loss (IL)

    Σ over classes of n · (Σ numeric (max − min)/(range of the column) + Σ categorical (height of the lowest common ancestor)/(height of the hierarchy)), columns weighted; a suppressed row counts 1 in every column

    Source: Byun, Kamra, Bertino & Li 2007; systematic clustering paper Equation (1); update paper Definition 4
    """

def gcp() -> Metric:
    """global certainty penalty (GCP)

    information loss / (rows × number of quasi columns), from 0 to 1

    Source: Ghinita, Karras, Kalnis & Mamoulis 2007; Xu et al. 2006
    """

def loss() -> Metric:
    """loss metric (LM)

    (covered leaves − 1)/(leaves − 1) per cell, averaged over rows and quasi columns; a suppressed row counts 1

    Source: Iyengar 2002
    """

def precision() -> Metric:
    """precision lost (1 − Prec)

    level of the cell / height of its hierarchy, averaged over rows and quasi columns; a suppressed row counts 1

    Source: Sweeney 2002
    """

def non_uniform_entropy() -> Metric:
    """non-uniform entropy

    Σ over cells of −log₂ Pr(original value | published cell), probabilities taken from the column

    Source: De Waal & Willenborg 1999; Gionis & Tassa 2009
    """

def ambiguity() -> Metric:
    """ambiguity (AM)

    the product of the leaves covered by the cells of a row, averaged over the rows; a suppressed row covers everything

    Source: Goldberger & Tassa 2010
    """

def homogeneity(share: Number | None = None) -> Attack:
    """homogeneity attack

    one sensitive value is shared by the whole class, so it is known for everyone in it

    The adversary knows the quasi values of a person who is in the table.

    Parameters:
        share: the share of a class that its most frequent value must reach; 1 is the whole class

    Source: Machanavajjhala et al., TKDD 2007, §1.1 and Figure 9
    """

def homogeneity_95(share: Number | None = None) -> Attack:
    """near-homogeneity attack

    one sensitive value has at least 95 % of the class, so a guess is right 19 times in 20

    The adversary knows the quasi values of a person who is in the table.

    Parameters:
        share: the share of a class that its most frequent value must reach; 1 is the whole class

    Source: Machanavajjhala et al., TKDD 2007, Figure 11
    """

def background_knowledge(b: int | None = None, threshold: Number | None = None) -> Attack:
    """background-knowledge attack

    after the b most helpful values are ruled out, one value is sure enough

    The adversary knows the quasi values of a person who is in the table, and b sensitive values that the person does not have.

    Parameters:
        b: how many values the adversary can rule out, at most; 2 when absent
        threshold: the posterior that counts as sure; 0.95 when absent

    Source: Machanavajjhala et al., TKDD 2007, §1.1
    """

def similarity(share: Number | None = None, categories: Sequence[Sequence[str]] | None = None, distance: Number | None = None) -> Attack:
    """similarity attack

    the values of the class lie within one category, or one node of the sensitive column's hierarchy

    The adversary knows the quasi values of a person who is in the table, and which sensitive values are alike.

    Parameters:
        share: the share of a class that must lie in one category; 1 when absent
        categories: lists of values; the column's own when absent
        distance: for a column of numbers: the share of its range within which the numbers of a class are alike, such as 0.25

    Source: Li, Li & Venkatasubramanian, ICDE 2007; Sun, Li & Wang, FGCS 2010, §2 and §5
    """

def skewness(factor: Number | None = None, points: Number | None = None) -> Attack:
    """skewness attack

    some value is far more likely in the class than in the release

    The adversary knows the quasi values of a person who is in the table, and the distribution of the whole release.

    Parameters:
        factor: how many times as likely a value becomes; 2 when absent
        points: by how much its probability grows at least; 0.1 when absent

    Source: Li, Li & Venkatasubramanian, ICDE 2007
    """

def linkage(threshold: Number | None = None) -> Attack:
    """linkage attack

    the classes that a person's values fit give one sensitive value at least the threshold's share

    The adversary knows a table of named persons with some of the quasi columns, and that these persons are in the release.

    Parameters:
        threshold: the share that counts as known; 1 when absent

    Source: Sweeney, IJUFKS 2002; Sun, Li & Wang, FGCS 2010, §2, Tables 2 and 3
    """

def belief(delta: Number | None = None, epsilon: Number | None = None, ruled_out: Sequence[str] | None = None) -> Attack:
    """belief of an adversary who knows the population

    the posterior of Theorem 3.1 exceeds 1 − δ (positive disclosure, whatever the prior; newly where the prior did not exceed it), or falls below ε although the prior did not (negative disclosure)

    The adversary knows the quasi tuple of a person who is in the table, and how often each value goes with it in the population.

    Parameters:
        delta: δ: a posterior above 1 − δ is a positive disclosure; 0.1 when absent
        epsilon: ε: a posterior below it is a negative disclosure; 0.1 when absent
        ruled_out: values that the adversary knows the person not to have, such as ["Heart Disease"]

    Source: Machanavajjhala et al., TKDD 2007, Theorem 3.1, Definitions 3.1 and 3.2
    """

def minimality(l: int | None = None, alpha: Number | None = None, distinct: int | None = None, entropy: Number | None = None, c: Number | None = None, recursive_l: int | None = None, k: int | None = None, value: str | None = None, scope: Literal['class', 'table'] | None = None, threshold: Number | None = None, limit: int | None = None) -> Attack:
    """minimality attack

    among the worlds in which the class could not be split, a value is likelier than the requirement allows

    The adversary knows the original quasi tuples of each class, the requirement, and that the release generalizes no more than it had to.

    Parameters:
        l: the requirement: no value may exceed 1/l of a class
        alpha: the requirement: no value may exceed this share of a class
        distinct: the requirement: so many distinct values in a class
        entropy: the requirement: an entropy of at least the logarithm of this
        c: the requirement: recursive (c,l)-diversity, with `recursive_l`
        recursive_l: the l of recursive (c,l)-diversity; 2 when absent
        k: the requirement: the smallest class allowed; 1 when absent
        value: the only value whose share is bounded; every value when absent
        scope: what is minimal: each class, or only the table
        threshold: the credibility that counts as a success; 1/l when absent
        limit: the largest class whose worlds are counted; 1000 when absent

    Source: Wong, Fu, Wang & Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007
    """

def inference(folds: int | None = None) -> Attack:
    """inference attack

    a classifier trained on the release guesses the sensitive value, where it is not the most common one

    The adversary knows the quasi values of a person, and the published rows of others.

    Parameters:
        folds: parts of the cross-validation, from 2 on; 5 when absent

    Source: Kifer, SIGMOD 2009 (naive Bayes on anonymized tables); Cormode, KDD 2011
    """

def intersection(values: int | None = None) -> Attack:
    """intersection attack

    the values that all of the person's classes have in common are fewer than any version leaves by itself

    The adversary knows the quasi values of a person, and in which versions of the release the person is.

    Parameters:
        values: how few candidate values count as a success; 1 when absent

    Source: Xiao & Tao, SIGMOD 2007 (m-invariance); Byun et al., SDM 2006
    """

def difference(threshold: Number | None = None) -> Attack:
    """difference attack

    what a class has more or less than a class of another version is known about those who differ, and what then is certain of them may be taken off further classes

    The adversary knows who is in which class of each version of the release.

    Parameters:
        threshold: the share of a group that counts as known; 1 when absent

    Source: Byun et al., SDM 2006; Fung et al., EDBT 2008
    """

__all__ = [
    "alpha_k_clustering",
    "ambiguity",
    "average_class_size",
    "average_risk",
    "background_knowledge",
    "bayes_optimal",
    "belief",
    "belief_difference",
    "beta_likeness",
    "cell_suppression",
    "common",
    "complete_alpha_k_anonymity",
    "countries",
    "dates",
    "delta_disclosure",
    "delta_presence",
    "difference",
    "discernibility",
    "distinct_l_alpha_diversity",
    "distinct_l_diversity",
    "entropy_l_alpha_diversity",
    "entropy_l_diversity",
    "file",
    "gcp",
    "general_alpha_k_anonymity",
    "height",
    "homogeneity",
    "homogeneity_95",
    "icd10",
    "incognito",
    "inference",
    "information_loss",
    "intersection",
    "intervals",
    "k_anonymity",
    "k_map",
    "k_member",
    "kl_divergence",
    "linkage",
    "loss",
    "m_invariance",
    "mask",
    "max_risk",
    "minimality",
    "mondrian",
    "non_uniform_entropy",
    "npd_recursive_c1_c2_l_diversity",
    "one_pass_k_means",
    "optimal",
    "order",
    "p_sensitive_k_anonymity",
    "pd_recursive_c_l_diversity",
    "portfolio",
    "precision",
    "prefix",
    "ranges",
    "recursive_c_l_alpha_diversity",
    "recursive_c_l_diversity",
    "samarati",
    "sample_uniqueness",
    "similarity",
    "simple_alpha_k_anonymity",
    "skewness",
    "suppress",
    "systematic",
    "t_closeness",
    "taxonomy",
    "top_down",
]
