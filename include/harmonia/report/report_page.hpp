#pragma once

#include <string>
#include <vector>

namespace harmonia {

/// What this build lacks to write pages, in one line; empty: nothing.
std::string report_missing();

/// One HTML page on one or more results (docs/result.schema.json), in their order. It holds all that it needs
/// and asks no network for anything; text of the results is shown as text, whatever it is. Results of any
/// number of rows become a page of some megabytes at most, which says what it averaged over.
/// `names` is how messages call the results; empty: "result 1" and so on. Throws Error(input) if one is no
/// result, Error(usage) if this build cannot write pages or there are no results.
std::string report_page(const std::vector<std::string>& results_json,
                        const std::vector<std::string>& names = {});

}  // namespace harmonia
