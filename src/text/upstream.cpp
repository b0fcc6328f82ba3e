#include "harmonia/text/upstream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <mutex>

#include "../model/http_attempt.hpp"
#include "../model/pipe_signal.hpp"
#include "endpoint_parts.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTickMilliseconds = 100;
constexpr std::size_t kKeptLines = 256;
constexpr double kConnectSeconds = 10;
constexpr std::chrono::seconds kGrace{5};  // for answers that still come when it is to stop

struct FreeMulti {
  void operator()(CURLM* multi) const {
    const PipeSignalGuard guard;
    curl_multi_cleanup(multi);
  }
};

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : +c; },
      [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : +c; });
}

EndpointOptions endpoint_of(const UpstreamOptions& options) {
  EndpointOptions endpoint;
  endpoint.url = options.url;
  endpoint.ca_file = options.ca_file;
  endpoint.timeout_seconds = options.timeout_seconds;
  return endpoint;
}

void require(CURLMcode code) {
  if (code != CURLM_OK)
    throw Error(ErrorCode::model, fmt::format("libcurl fails: {}", curl_multi_strerror(code)));
}

}  // namespace

bool is_passed_on(std::string_view header) {
  constexpr std::array<std::string_view, 11> own{
      "Connection", "Proxy-Connection",   "Keep-Alive", "TE",     "Trailer",       "Transfer-Encoding",
      "Upgrade",    "Proxy-Authenticate", "Host",       "Expect", "Content-Length"};
  return std::ranges::none_of(own, [&](std::string_view name) { return same_name(name, header); });
}

std::vector<HttpHeader> passed_on(std::vector<HttpHeader> headers) {
  std::vector<std::string> named;
  for (const auto& [name, value] : headers) {
    if (!same_name(name, "connection")) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      named.emplace_back(trim(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::erase_if(headers, [&](const HttpHeader& header) {
    return !is_passed_on(header.first) ||
           std::ranges::any_of(named, [&](const std::string& name) { return same_name(name, header.first); });
  });
  return headers;
}

// A connection, and the request on it.
class UpstreamAnswer::Line {
 public:
  Line() : multi_(curl_multi_init()), handle_(make_curl_handle()) {
    if (!multi_) throw std::bad_alloc();
  }
  ~Line() { end(); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void begin(const EndpointAddress& address, const UpstreamRequest& request, std::stop_token stop) {
    options_ = address.http();
    stop_ = std::move(stop);
    stopped_.reset();
    name_ = address.name();
    url_ = address.base() + request.target;
    body_ = request.body;
    std::vector<std::string> lines;
    for (const auto& [name, value] : request.headers) {
      if (!is_passed_on(name)) continue;
      lines.push_back(value.empty() ? name + ";" : fmt::format("{}: {}", name, value));
    }
    // What libcurl adds by itself if nobody says otherwise.
    for (const std::string_view name : {"Accept", "Content-Type", "User-Agent"}) {
      if (std::ranges::none_of(request.headers,
                               [&](const HttpHeader& h) { return same_name(h.first, name); }))
        lines.push_back(fmt::format("{}:", name));
    }
    headers_ = make_curl_headers(lines);
    const bool has_body = !body_.empty() || (request.method != "GET" && request.method != "HEAD");
    prepare_attempt(handle_.get(), attempt_, options_, headers_.get(), url_, has_body ? &body_ : nullptr);
    CURL* const handle = handle_.get();
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 0L);  // an answer may take long, if it is not silent
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(1000 * connect_seconds()));
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &take_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &take_bytes);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
    if (request.method == "HEAD") {
      curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    } else {
      curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    require(curl_multi_add_handle(multi_.get(), handle));
    added_ = true;
    last_news_ = Clock::now();
    while (!head_complete_ && advance()) {
    }
    if (!head_complete_) throw Error(ErrorCode::model, fmt::format("{}: its answer has no head", name_));
  }

  bool read(std::string& bytes) {
    const bool more = bytes_.empty() && advance();
    bytes += bytes_;
    const bool some = !bytes_.empty();
    bytes_.clear();
    return some || more;
  }

  // Ready for the next request. False: the last one was not complete.
  bool end() {
    const PipeSignalGuard guard;
    if (added_) curl_multi_remove_handle(multi_.get(), handle_.get());
    curl_easy_reset(handle_.get());
    const bool complete = complete_;
    added_ = complete_ = head_complete_ = false;
    status_ = 0;
    heads_.clear();
    // They may be large, and the line may wait long.
    bytes_ = {};
    body_ = {};
    attempt_ = {};
    return complete;
  }

  int status() const { return status_; }
  const std::vector<HttpHeader>& headers() const { return heads_; }

 private:
  double connect_seconds() const { return std::min(kConnectSeconds, options_.timeout_seconds); }

  // Waits for news, at most a tick. False: all has come.
  bool advance() {
    if (complete_) return false;
    check_stop();
    perform();
    if (news_ || settle()) return !complete_;
    require(curl_multi_poll(multi_.get(), nullptr, 0, kTickMilliseconds, nullptr));
    perform();
    if (!news_ && !settle() &&
        Clock::now() - last_news_ > std::chrono::duration<double>(options_.timeout_seconds))
      throw UpstreamSilent(fmt::format("{}: no answer within {:g} s", name_, options_.timeout_seconds));
    return !complete_;
  }

  void check_stop() {
    if (!stop_.stop_requested()) return;
    if (!stopped_) stopped_ = Clock::now();
    if (Clock::now() - *stopped_ > kGrace)
      throw Error(ErrorCode::model, fmt::format("{}: stopped before all of its answer had come", name_));
  }

  void perform() {
    const PipeSignalGuard guard;
    int running = 0;
    news_ = false;
    require(curl_multi_perform(multi_.get(), &running));
    if (news_) last_news_ = Clock::now();
  }

  // Whether the request has ended.
  bool settle() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      conclude_attempt(handle_.get(), message->data.result, attempt_, options_);
      if (attempt_.code == CURLE_OPERATION_TIMEDOUT)
        throw UpstreamSilent(fmt::format("{}: no connection within {:g} s", name_, connect_seconds()));
      if (attempt_.code != CURLE_OK)
        throw Error(ErrorCode::model, fmt::format("{}: {}", name_, attempt_.reason));
      complete_ = true;
    }
    return complete_;
  }

  static std::size_t take_bytes(char* data, std::size_t, std::size_t count, void* user) {
    auto& line = *static_cast<Line*>(user);
    line.bytes_.append(data, count);
    line.news_ = true;
    return count;
  }

  static std::size_t take_header(char* data, std::size_t, std::size_t count, void* user) {
    static_cast<Line*>(user)->take(trim({data, count}));
    return count;
  }

  void take(std::string_view text) {
    news_ = true;
    if (head_complete_) return;  // a trailer
    if (text.starts_with("HTTP/")) {
      heads_.clear();
      status_ = 0;
      const std::size_t blank = std::min(text.find(' '), text.size() - 1);
      std::from_chars(text.data() + blank + 1, text.data() + text.size(), status_);
    } else if (text.empty()) {
      head_complete_ = status_ >= 200;  // what is below goes before the answer
    } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
      heads_.emplace_back(text.substr(0, colon), trim(text.substr(colon + 1)));
    }
  }

  std::unique_ptr<CURLM, FreeMulti> multi_;
  CurlHandle handle_;
  CurlHeaders headers_;
  HttpAttempt attempt_;
  HttpOptions options_;
  std::string name_, url_, body_, bytes_;
  std::vector<HttpHeader> heads_;
  int status_ = 0;
  bool added_ = false, news_ = false, head_complete_ = false, complete_ = false;
  Clock::time_point last_news_;
  std::stop_token stop_;
  std::optional<Clock::time_point> stopped_;  // when that was seen
};

// Lines that wait for the next request.
struct UpstreamAnswer::Lines {
  explicit Lines(const UpstreamOptions& options)
      : address(endpoint_of(options), "/chat/completions"), stop(options.stop) {}

  std::unique_ptr<Line> take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<Line> line = std::move(idle.back());
        idle.pop_back();
        return line;
      }
    }
    return std::make_unique<Line>();
  }

  void give_back(std::unique_ptr<Line> line) {
    if (!line->end()) return;
    const std::lock_guard lock(mutex);
    if (idle.size() < kKeptLines) idle.push_back(std::move(line));
  }

  EndpointAddress address;
  std::stop_token stop;
  std::mutex mutex;
  std::vector<std::unique_ptr<Line>> idle;
};

UpstreamAnswer::UpstreamAnswer(std::unique_ptr<Line> line, std::shared_ptr<Lines> lines)
    : line_(std::move(line)), lines_(std::move(lines)) {}
UpstreamAnswer::~UpstreamAnswer() { lines_->give_back(std::move(line_)); }

int UpstreamAnswer::status() const { return line_->status(); }
const std::vector<HttpHeader>& UpstreamAnswer::headers() const { return line_->headers(); }
bool UpstreamAnswer::read(std::string& bytes) { return line_->read(bytes); }

Upstream::Upstream(const UpstreamOptions& options)
    : lines_(std::make_shared<UpstreamAnswer::Lines>(options)) {
  static_cast<void>(make_curl_headers(lines_->address.http()));  // checks the options
}
Upstream::~Upstream() = default;

const std::string& Upstream::name() const { return lines_->address.name(); }

std::unique_ptr<UpstreamAnswer> Upstream::send(const UpstreamRequest& request) {
  std::unique_ptr<UpstreamAnswer::Line> line = lines_->take();
  line->begin(lines_->address, request, lines_->stop);
  return std::unique_ptr<UpstreamAnswer>(new UpstreamAnswer(std::move(line), lines_));
}

}  // namespace harmonia
