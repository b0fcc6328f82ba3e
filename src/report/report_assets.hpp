#pragma once

#include <string>
#include <string_view>

namespace harmonia {

/// What web/ was bundled to when this was built; its source is written by web/bundle.sh.
struct ReportAssets {
  std::string script, style;
  std::string_view script_hash;  ///< as Content-Security-Policy wants it
  std::string_view missing;      ///< why there is no bundle, in one line; empty: there is one
};

ReportAssets report_assets();

}  // namespace harmonia
