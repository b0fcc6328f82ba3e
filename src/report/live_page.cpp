#include <fmt/format.h>

#include "harmonia/core/error.hpp"
#include "harmonia/report/monitor_report.hpp"
#include "report_assets.hpp"

namespace harmonia {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{}</title>
<style>{}</style>
</head>
)";

PageAssets live_assets() {
  PageAssets assets = monitor_assets();
  if (!assets.missing.empty()) throw Error(ErrorCode::usage, std::string(assets.missing));
  return assets;
}

}  // namespace

LivePage monitor_page(bool logged_in) {
  const PageAssets assets = live_assets();
  LivePage page;
  page.html = fmt::format(kHead, "Harmonia: monitor", assets.style) + fmt::format(R"(<body>
<noscript><p>This page is drawn by its script; its numbers are at /api/status.</p></noscript>
<main id="monitor" data-login="{}"></main>
<script>{}</script>
</body>
</html>
)",
                                                                                  logged_in, assets.script);
  // No script but the one whose hash is known, and no other server.
  page.policy = fmt::format(
      "default-src 'none'; script-src '{}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      assets.script_hash);
  return page;
}

LivePage login_page(bool refused) {
  const PageAssets assets = live_assets();
  LivePage page;
  page.html = fmt::format(kHead, "Harmonia: log in", assets.style) +
              fmt::format(R"(<body>
<main class="login">
<p class="mark">Harmonia</p>
<h1>Log in</h1>
<form method="post" action="/login">
<input name="username" value="reader" autocomplete="username" hidden>
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Log in</button>
{}</form>
</main>
</body>
</html>
)",
                          refused ? "<p class=\"wrong\" role=\"alert\">This token is wrong.</p>\n" : "");
  page.policy =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; "
      "frame-ancestors 'none'";
  return page;
}

}  // namespace harmonia
