// Workbooks as spreadsheet programs write them, made from lists of rows: a ZIP archive of XML, without compression.

const CRC = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});
const checksum = (bytes) => (bytes.reduce((sum, byte) => CRC[(sum ^ byte) & 255] ^ (sum >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;

/** A record of a ZIP archive from pairs of length and number. */
function record(...fields) {
  const bytes = Buffer.alloc(fields.reduce((sum, [length]) => sum + length, 0));
  let at = 0;
  for (const [length, value] of fields) at = bytes.writeUIntLE(value, at, length);
  return bytes;
}

function archive(parts) {
  const [files, index] = [[], []];
  let offset = 0;
  for (const [name, text] of parts) {
    const [path, data] = [Buffer.from(name), Buffer.from(text)];
    const about = [[2, 0], [2, 0], [2, 0], [2, 0x21], [4, checksum(data)], [4, data.length], [4, data.length], [2, path.length], [2, 0]];
    const local = Buffer.concat([record([4, 0x04034b50], [2, 20], ...about), path, data]);
    index.push(Buffer.concat([record([4, 0x02014b50], [2, 20], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), path]));
    files.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(index);
  const end = record([4, 0x06054b50], [2, 0], [2, 0], [2, parts.length], [2, parts.length], [4, listed.length], [4, offset], [2, 0]);
  return Buffer.concat([...files, listed, end]);
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const escaped = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

function sheet(rows) {
  const cell = (value, r, c) => {
    const place = String.fromCharCode(65 + c) + (r + 1);
    return typeof value === "number" ? `<c r="${place}"><v>${value}</v></c>` : `<c r="${place}" t="inlineStr"><is><t>${escaped(value)}</t></is></c>`;
  };
  const lines = rows.map((row, r) => `<row r="${r + 1}">${row.map((value, c) => cell(value, r, c)).join("")}</row>`);
  return `${XML}<worksheet xmlns="${MAIN}"><sheetData>${lines.join("")}</sheetData></worksheet>`;
}

/** A workbook with sheets by their names, each a list of rows of at most 26 texts and numbers. */
export function workbook(sheets) {
  const names = Object.keys(sheets);
  const number = (i) => i + 1;
  const listed = names.map((name, i) => `<sheet name="${escaped(name)}" sheetId="${number(i)}" r:id="rId${number(i)}"/>`).join("");
  const related = names.map((_, i) => `<Relationship Id="rId${number(i)}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${number(i)}.xml"/>`).join("");
  const types = names.map((_, i) => `<Override PartName="/xl/worksheets/sheet${number(i)}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`).join("");
  return archive([
    ["[Content_Types].xml", `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>${types}</Types>`],
    ["_rels/.rels", `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`],
    ["xl/workbook.xml", `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${listed}</sheets></workbook>`],
    ["xl/_rels/workbook.xml.rels", `${XML}<Relationships xmlns="${PACKAGE}/relationships">${related}</Relationships>`],
    ...names.map((name, i) => [`xl/worksheets/sheet${number(i)}.xml`, sheet(sheets[name])]),
  ]);
}
