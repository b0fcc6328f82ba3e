// Writes bundled scripts and styles as a C++ source: node embed.mjs OUT.cpp FOLDER NAME...
// with NAME.js and NAME.css in the folder.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const [out, folder, ...names] = process.argv.slice(2);

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

function assets(name) {
  // Neither may end the element it stands in.
  const script = readFileSync(`${folder}/${name}.js`, "utf8").replaceAll("</script", "<\\/script").replaceAll("<!--", "\\x3c!--");
  const style = readFileSync(`${folder}/${name}.css`, "utf8");
  if (/<\/style/i.test(style)) throw new Error(`${name}.css holds </style`);
  const hash = createHash("sha256").update(script, "utf8").digest("base64");
  return `PageAssets ${name}_assets() {
  constexpr std::array kScript{
${pieces(script)}};
  constexpr std::array kStyle{
${pieces(style)}};
  return {joined(kScript), joined(kStyle), "sha256-${hash}", ""};
}
`;
}

const source = `// Written by web/embed.mjs.
#include <array>

#include "report_assets.hpp"

namespace harmonia {
namespace {

using namespace std::string_view_literals;

template <class Pieces>
std::string joined(const Pieces& pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

}  // namespace

${names.map(assets).join("\n")}
}  // namespace harmonia
`;
if (!existsSync(out) || readFileSync(out, "utf8") !== source) writeFileSync(out, source);
