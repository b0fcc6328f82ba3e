#include "http_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "harmonia/core/error.hpp"
#include "http_attempt.hpp"
#include "pipe_signal.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{50};  // how often a pause looks whether the run is stopped

}  // namespace

// Handles that wait for the next request, each with its open connection.
class HttpClient::Connections {
 public:
  explicit Connections(HttpOptions options)
      : options_(std::move(options)), headers_(make_curl_headers(options_)) {}

  // body: null for GET.
  HttpAnswer request(const std::string& url, const std::string* body) const {
    for (HttpRetries retries(options_);;) {
      HttpAttempt attempt;
      try_once(url, body, attempt);
      if (const auto pause = retries.enter(attempt)) {
        wait(*pause);
      } else if (attempt.code != CURLE_OK) {
        throw Error(ErrorCode::model,
                    fmt::format("{}: {}{}", options_.name, attempt.reason, after_tries(retries.tries())));
      } else {
        return {attempt.status, retries.tries(), std::move(attempt.body)};
      }
    }
  }

 private:
  // Waits, unless the run is stopped.
  void wait(milliseconds pause) const {
    for (const auto end = std::chrono::steady_clock::now() + pause; std::chrono::steady_clock::now() < end;) {
      if (options_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
      std::this_thread::sleep_for(std::min(pause, kTick));
    }
  }

  void try_once(const std::string& url, const std::string* body, HttpAttempt& attempt) const {
    CurlHandle handle = take();
    prepare_attempt(handle.get(), attempt, options_, headers_.get(), url, body);
    CURLcode code = CURLE_OK;
    {
      const PipeSignalGuard guard;  // libcurl leaves the signal of a closed connection to us
      code = curl_easy_perform(handle.get());
    }
    conclude_attempt(handle.get(), code, attempt, options_);
    give_back(std::move(handle));
  }

  CurlHandle take() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        CurlHandle handle = std::move(idle_.back());
        idle_.pop_back();
        return handle;
      }
    }
    return make_curl_handle();
  }

  void give_back(CurlHandle handle) const {
    curl_easy_reset(handle.get());  // forgets our buffers, keeps the connection
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(handle));
  }

  HttpOptions options_;
  CurlHeaders headers_;
  mutable std::mutex mutex_;
  mutable std::vector<CurlHandle> idle_;
};

HttpClient::HttpClient(HttpOptions options)
    : connections_(std::make_unique<Connections>(std::move(options))) {}
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::get(const std::string& url) const { return connections_->request(url, nullptr); }
HttpAnswer HttpClient::post(const std::string& url, const std::string& body) const {
  return connections_->request(url, &body);
}

std::string after_tries(int tries) { return tries > 1 ? fmt::format(" after {} tries", tries) : ""; }

}  // namespace harmonia
