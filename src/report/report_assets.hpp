#pragma once

#include <string>
#include <string_view>

namespace harmonia {

/// A page that web/ was bundled to when this was built; the source is written by web/bundle.sh.
struct PageAssets {
  std::string script, style;
  std::string_view script_hash;  ///< as Content-Security-Policy wants it
  std::string_view missing;      ///< why there is no bundle, in one line; empty: there is one
};

PageAssets report_assets();   ///< of the report
PageAssets monitor_assets();  ///< of the monitor's live page

}  // namespace harmonia
