#include <fmt/format.h>

#include <memory>

#include "../model/http_client.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/monitor/alert_sink.hpp"
#include "queued_sink.hpp"

namespace harmonia {
namespace {

// What is between :// and the path, without a user's name and password.
std::string host_of(const std::string& url) {
  const std::size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  const std::size_t end = std::min(url.find_first_of("/?#", scheme), url.size());
  const std::size_t user = url.rfind('@', end);
  const std::size_t first = user == std::string::npos || user < scheme ? scheme : user + 1;
  if (scheme == 0 || first >= end)
    throw Error(ErrorCode::usage, "the webhook is no URL; expected http://HOST… or https://HOST…");
  return printable(url.substr(first, end - first));
}

}  // namespace

std::unique_ptr<AlertSink> open_webhook(const std::string& url, const WebhookOptions& webhook,
                                        const AlertSinkOptions& options) {
  const std::string name = fmt::format("the webhook at {}", host_of(url));
  // The queue stops requests that are under way through this.
  auto stopped = std::make_shared<std::stop_source>();
  HttpOptions http;
  http.name = name;
  http.headers = webhook.headers;
  http.ca_file = webhook.ca_file;
  http.timeout_seconds = webhook.timeout_seconds;
  http.retries = 0;  // the queue's affair
  http.longest_answer = std::size_t{1} << 20;
  http.stop = stopped->get_token();
  const auto client = std::make_shared<HttpClient>(http);
  const std::string start = name + ": ";
  return std::make_unique<QueuedSink>(
      name, "webhook", options,
      [client, stopped, url, start](const std::string& line, const std::stop_token& stop) -> Delivery {
        const std::stop_callback pass_on(stop, [&] { stopped->request_stop(); });
        try {
          const HttpAnswer answer = client->post(url, line);
          if (answer.status >= 200 && answer.status < 300) return {};
          return {fmt::format("it answered {}", answer.status), answer.status == 429 || answer.status >= 500};
        } catch (const Error& error) {
          const std::string_view message = error.what();
          return {std::string(message.starts_with(start) ? message.substr(start.size()) : message), true};
        }
      });
}

}  // namespace harmonia
