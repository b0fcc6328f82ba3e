// Writes the bundled script and style as a C++ source: node embed.mjs OUT.cpp SCRIPT.js STYLE.css
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const [out, scriptFile, styleFile] = process.argv.slice(2);
// Neither may end the element it stands in.
const script = readFileSync(scriptFile, "utf8").replaceAll("</script", "<\\/script").replaceAll("<!--", "\\x3c!--");
const style = readFileSync(styleFile, "utf8");
if (/<\/style/i.test(style)) throw new Error(`${styleFile} holds </style`);
const hash = createHash("sha256").update(script, "utf8").digest("base64");

// Compilers promise 65,536 bytes a literal and no more.
function pieces(text) {
  const bytes = Buffer.from(text, "utf8");
  const found = [];
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + 16000, bytes.length);
    while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) --end; // between characters
    const piece = bytes.subarray(at, end).toString("utf8");
    if (piece.includes(')~~"')) throw new Error("a piece holds the end of its literal");
    found.push(`    R"~~(${piece})~~"sv,\n`);
    at = end;
  }
  return found.join("");
}

const source = `// Written by web/embed.mjs.
#include <array>

#include "report_assets.hpp"

namespace harmonia {
namespace {

using namespace std::string_view_literals;

constexpr std::array kScript{
${pieces(script)}};
constexpr std::array kStyle{
${pieces(style)}};

template <class Pieces>
std::string joined(const Pieces& pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

}  // namespace

ReportAssets report_assets() { return {joined(kScript), joined(kStyle), "sha256-${hash}", ""}; }

}  // namespace harmonia
`;
if (!existsSync(out) || readFileSync(out, "utf8") !== source) writeFileSync(out, source);
