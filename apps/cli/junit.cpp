#include "junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

// XML has no control characters, not even escaped ones; texts that come from files may.
std::string clean(const std::string& text) { return printable(text, 2000); }

}  // namespace

std::string junit_xml(const GateResult& result, const std::string& name) {
  const auto count = [&](GateOutcome outcome) {
    return std::count_if(result.checks.begin(), result.checks.end(),
                         [&](const GateCheck& check) { return check.outcome == outcome; });
  };
  pugi::xml_document document;
  pugi::xml_node head = document.append_child(pugi::node_declaration);
  head.append_attribute("version") = "1.0";
  head.append_attribute("encoding") = "UTF-8";
  pugi::xml_node suites = document.append_child("testsuites");
  pugi::xml_node suite = suites.append_child("testsuite");
  suite.append_attribute("name") = clean(fmt::format("harmonia gate {}", name)).c_str();
  for (pugi::xml_node node : {suites, suite}) {
    node.append_attribute("tests") = static_cast<long long>(result.checks.size());
    node.append_attribute("failures") = static_cast<long long>(count(GateOutcome::failed));
    node.append_attribute("errors") = static_cast<long long>(count(GateOutcome::inconclusive));
    node.append_attribute("time") = "0";
  }
  suite.append_attribute("skipped") = "0";
  for (const GateCheck& check : result.checks) {
    pugi::xml_node test = suite.append_child("testcase");
    test.append_attribute("classname") = "harmonia.gate";
    test.append_attribute("name") = clean(check.name).c_str();
    test.append_attribute("time") = "0";
    const bool passed = check.outcome == GateOutcome::passed;
    pugi::xml_node said = test.append_child(passed                                 ? "system-out"
                                            : check.outcome == GateOutcome::failed ? "failure"
                                                                                   : "error");
    if (!passed) {
      said.append_attribute("message") = clean(check.text).c_str();
      said.append_attribute("type") = outcome_name(check.outcome).c_str();
    }
    said.text().set(clean(check.text).c_str());
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace harmonia
