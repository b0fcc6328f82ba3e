#include "http_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "pipe_signal.hpp"
#include "row_text.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kTick{50};  // how often a pause looks whether the run is stopped
constexpr double kLongestTimeout = 86400;

struct FreeHandle {
  void operator()(CURL* handle) const {
    const PipeSignalGuard guard;  // it says goodbye over TLS
    curl_easy_cleanup(handle);
  }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Handle = std::unique_ptr<CURL, FreeHandle>;
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

// What one request left behind.
struct Attempt {
  CURLcode code = CURLE_OK;
  long status = 0;
  milliseconds asked_pause{0};  // by Retry-After
  std::string reason;           // of a failure
  std::string body;
  bool too_long = false;
};

struct Sink {
  std::string& body;
  std::size_t longest;
  bool too_long = false;
};

std::size_t take_bytes(char* data, std::size_t, std::size_t count, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  if (count > sink.longest - sink.body.size()) {
    sink.too_long = true;
    return 0;  // ends the transfer
  }
  sink.body.append(data, count);
  return count;
}

// Asked by libcurl now and then; not 0 breaks the transfer off.
int stop_asked(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

void append_header(HeaderList& list, const std::string& header) {
  curl_slist* longer = curl_slist_append(list.get(), header.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list.release());  // the longer list has taken it over
  list.reset(longer);
}

bool connection_lost(CURLcode code) {
  constexpr std::array codes{CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_GOT_NOTHING,
                             CURLE_RECV_ERROR,      CURLE_SEND_ERROR,           CURLE_PARTIAL_FILE,
                             CURLE_HTTP2,           CURLE_HTTP2_STREAM};
  return std::ranges::find(codes, code) != codes.end();
}

std::string describe(CURL* handle, CURLcode code, const char* details) {
  long error = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error);
  if (code == CURLE_COULDNT_CONNECT && error == ECONNREFUSED) return "connection refused";
  if (code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR) {
    return "the connection was closed before the answer was complete";
  }
  return sentence(*details != '\0' ? details : curl_easy_strerror(code));
}

void check(const HttpOptions& options) {
  if (!(options.timeout_seconds > 0)) {
    throw Error(ErrorCode::usage,
                fmt::format("timeout of {} s; expected more than 0", options.timeout_seconds));
  }
  for (std::size_t i = 0; i < options.headers.size(); ++i) {
    const std::string& header = options.headers[i];
    const std::size_t colon = header.find(':');
    // The header itself may be a secret and is not repeated.
    if (colon == std::string::npos || colon == 0 || header.find_first_of("\r\n") != std::string::npos) {
      throw Error(ErrorCode::usage,
                  fmt::format("header {} is not of the form 'Name: value' on one line", i + 1));
    }
  }
}

}  // namespace

// Handles that wait for the next request, each with its open connection.
class HttpClient::Connections {
 public:
  explicit Connections(HttpOptions options) : options_(std::move(options)) {
    check(options_);
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);  // once, by whoever is first
    if (initialised != CURLE_OK) throw Error(ErrorCode::model, "libcurl cannot be initialised");
    append_header(headers_, "Content-Type: application/json");
    append_header(headers_, "Accept: application/json");
    append_header(headers_, "Expect:");  // else a large body waits a second for a leave that few servers give
    for (const std::string& header : options_.headers) append_header(headers_, header);
  }

  // body: null for GET.
  HttpAnswer request(const std::string& url, const std::string* body) const {
    const auto longest_pause = milliseconds(timeout());
    milliseconds pause = std::min(kFirstPause, longest_pause);
    bool timed_out = false;
    for (int tries = 1;; ++tries, pause = std::min(pause * 2, longest_pause)) {
      Attempt attempt = try_once(url, body);
      const bool again = attempt.code == CURLE_OK ? attempt.status == 429 || attempt.status >= 500
                         : attempt.code == CURLE_OPERATION_TIMEDOUT ? !std::exchange(timed_out, true)
                                                                    : connection_lost(attempt.code);
      if (!again || tries > options_.retries) {
        if (attempt.code != CURLE_OK) fail(attempt, tries);
        return {attempt.status, tries, std::move(attempt.body)};
      }
      wait(std::max(pause, std::min(attempt.asked_pause, longest_pause)));
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

  long timeout() const {
    return std::max(1L, std::lround(1000 * std::min(options_.timeout_seconds, kLongestTimeout)));
  }

  [[noreturn]] void fail(const Attempt& attempt, int tries) const {
    std::string what = attempt.reason;
    if (attempt.too_long) what = fmt::format("its answer is longer than {} bytes", options_.longest_answer);
    if (attempt.code == CURLE_OPERATION_TIMEDOUT)
      what = fmt::format("no answer within {:g} s", options_.timeout_seconds);
    if (tries > 1) what += fmt::format(" after {} tries", tries);
    throw Error(ErrorCode::model, fmt::format("{}: {}", options_.name, what));
  }

  Attempt try_once(const std::string& url, const std::string* body) const {
    Handle handle = take();
    std::array<char, CURL_ERROR_SIZE> details{};
    Attempt attempt;
    Sink sink{attempt.body, options_.longest_answer};
    set(handle.get(), CURLOPT_URL, url.c_str());
    set(handle.get(), CURLOPT_HTTPHEADER, headers_.get());
    set(handle.get(), CURLOPT_USERAGENT, "harmonia/" HARMONIA_VERSION);
    set(handle.get(), CURLOPT_NOSIGNAL, 1L);  // safe with threads
    set(handle.get(), CURLOPT_PROXY, "");     // else the environment decides
    set(handle.get(), CURLOPT_TIMEOUT_MS, timeout());
    set(handle.get(), CURLOPT_ERRORBUFFER, details.data());
    set(handle.get(), CURLOPT_NOPROGRESS, 0L);
    set(handle.get(), CURLOPT_XFERINFOFUNCTION, stop_asked);
    set(handle.get(), CURLOPT_XFERINFODATA, &options_.stop);
    set(handle.get(), CURLOPT_WRITEFUNCTION, take_bytes);
    set(handle.get(), CURLOPT_WRITEDATA, &sink);
    if (!options_.ca_file.empty()) set(handle.get(), CURLOPT_CAINFO, options_.ca_file.c_str());
    if (body != nullptr) {
      set(handle.get(), CURLOPT_POSTFIELDS, body->c_str());
      set(handle.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
    }
    {
      const PipeSignalGuard guard;  // libcurl leaves the signal of a closed connection to us
      attempt.code = curl_easy_perform(handle.get());
    }
    if (attempt.code == CURLE_ABORTED_BY_CALLBACK) throw Error(ErrorCode::interrupted, "stopped");
    attempt.too_long = sink.too_long;
    if (attempt.code != CURLE_OK) attempt.reason = describe(handle.get(), attempt.code, details.data());
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &attempt.status);
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RETRY_AFTER, &seconds);
    attempt.asked_pause = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, 86400));
    give_back(std::move(handle));
    return attempt;
  }

  template <class Value>
  static void set(CURL* handle, CURLoption option, Value value) {
    if (curl_easy_setopt(handle, option, value) != CURLE_OK) {
      throw Error(ErrorCode::model, fmt::format("libcurl refuses option {}", static_cast<int>(option)));
    }
  }

  Handle take() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Handle handle = std::move(idle_.back());
        idle_.pop_back();
        return handle;
      }
    }
    Handle handle(curl_easy_init());
    if (!handle) throw std::bad_alloc();
    return handle;
  }

  void give_back(Handle handle) const {
    curl_easy_reset(handle.get());  // forgets our buffers, keeps the connection
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(handle));
  }

  HttpOptions options_;
  HeaderList headers_;
  mutable std::mutex mutex_;
  mutable std::vector<Handle> idle_;
};

HttpClient::HttpClient(HttpOptions options)
    : connections_(std::make_unique<Connections>(std::move(options))) {}
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::get(const std::string& url) const { return connections_->request(url, nullptr); }
HttpAnswer HttpClient::post(const std::string& url, const std::string& body) const {
  return connections_->request(url, &body);
}

}  // namespace harmonia
