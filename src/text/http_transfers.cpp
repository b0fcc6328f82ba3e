#include "http_transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "../model/http_attempt.hpp"
#include "../model/pipe_signal.hpp"
#include "harmonia/core/error.hpp"
#include "multi_events.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Leave = TransferWork::Leave;

constexpr milliseconds kTick{50};  // how often waiting looks whether the run is stopped
// Answers that are looked after before the next requests are sent: those that come all at once would
// otherwise keep the server waiting until the last of them is read and stored, round after round.
constexpr int kBurst = 8;

// One request from its first try to its end.
struct Job {
  Job(std::size_t its_number, const HttpOptions& options) : number(its_number), retries(options) {}

  std::size_t number;
  HttpRetries retries;
  HttpAttempt attempt;
  std::string body;
  CurlHandle handle;      // while a try is under way
  Clock::time_point due;  // of the next try, else
};
using JobPointer = std::unique_ptr<Job>;

bool unreachable(CURLcode code) {
  constexpr std::array codes{CURLE_COULDNT_CONNECT,    CURLE_COULDNT_RESOLVE_HOST,
                             CURLE_SSL_CONNECT_ERROR,  CURLE_PEER_FAILED_VERIFICATION,
                             CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
                             CURLE_URL_MALFORMAT};
  return std::ranges::find(codes, code) != codes.end();
}

}  // namespace

class HttpTransfers::Engine {
 public:
  Engine(HttpOptions options, std::size_t in_flight)
      : options_(std::move(options)),
        in_flight_(std::max<std::size_t>(in_flight, 1)),
        headers_(make_curl_headers(options_)) {
    // Connections that are kept: libcurl's own limit follows the handles it has at the moment.
    require(curl_multi_setopt(events_.multi(), CURLMOPT_MAXCONNECTS, static_cast<long>(in_flight_)));
  }

  void run(const std::string& url, std::size_t count, TransferWork& work) {
    const Cleared cleared{*this};
    url_ = &url;
    try {
      go(count, work);
    } catch (...) {
      work.settled();
      throw;
    }
    work.settled();
  }

 private:
  void go(std::size_t count, TransferWork& work) {
    for (std::size_t next = 0; next < count || !flying_.empty() || !paused_.empty();) {
      if (options_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
      resume(work);
      begin(next, count, work);
      if (flying_.empty() && paused_.empty()) continue;
      events_.advance();
      const bool some = settle(work);
      work.settled();
      if (!some) wait();
    }
  }

  // Whatever way a run ends, nothing of it is left.
  struct Cleared {
    Engine& engine;
    ~Cleared() {
      for (const JobPointer& job : engine.flying_) engine.land(*job);
      engine.flying_.clear();
      engine.paused_.clear();
    }
  };

  // Begins tries whose pause is over.
  void resume(TransferWork& work) {
    const auto now = Clock::now();
    for (std::size_t i = 0; i < paused_.size() && flying_.size() < in_flight_;) {
      if (paused_[i]->due > now) {
        ++i;
        continue;
      }
      const Leave leave = work.leave(paused_[i]->number);
      if (leave == Leave::later) {
        paused_[i++]->due = now + kTick;
        continue;
      }
      JobPointer job = std::move(paused_[i]);
      paused_.erase(paused_.begin() + static_cast<std::ptrdiff_t>(i));
      if (leave == Leave::now) {
        fly(std::move(job));
      } else {
        give(*job, work);
      }
    }
  }

  // Begins new requests, as many as may be in flight.
  void begin(std::size_t& next, std::size_t count, TransferWork& work) {
    while (next < count && flying_.size() < in_flight_ && flying_.size() + paused_.size() < 2 * in_flight_) {
      const Leave leave = work.leave(next);
      if (leave == Leave::later) return;
      auto job = std::make_unique<Job>(next++, options_);
      if (leave == Leave::now) {
        job->body = work.body(job->number);
        fly(std::move(job));
      } else {
        work.take(job->number, job->attempt, 0, true);
      }
    }
  }

  void fly(JobPointer job) {
    if (idle_.empty()) idle_.push_back(make_curl_handle());
    job->handle = std::move(idle_.back());
    idle_.pop_back();
    job->attempt = {};
    prepare_attempt(job->handle.get(), job->attempt, options_, headers_.get(), *url_, &job->body);
    curl_easy_setopt(job->handle.get(), CURLOPT_PRIVATE, job.get());
    require(curl_multi_add_handle(events_.multi(), job->handle.get()));
    flying_.push_back(std::move(job));
  }

  // Takes the handle back; libcurl forgets the request and keeps the connection if it is in order.
  void land(Job& job) {
    const PipeSignalGuard guard;
    curl_multi_remove_handle(events_.multi(), job.handle.get());
    curl_easy_reset(job.handle.get());
    idle_.push_back(std::move(job.handle));
  }

  // Looks after some of the tries that ended. False: none did.
  bool settle(TransferWork& work) {
    int settled = 0;
    int left = 0;
    while (settled < kBurst) {
      const CURLMsg* const message = curl_multi_info_read(events_.multi(), &left);
      if (message == nullptr) break;
      if (message->msg != CURLMSG_DONE) continue;
      ++settled;
      const CURLcode code = message->data.result;
      Job* ended = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &ended);
      const auto place = std::ranges::find(flying_, ended, &JobPointer::get);
      conclude_attempt(ended->handle.get(), code, ended->attempt, options_);
      JobPointer job = std::move(*place);
      std::swap(*place, flying_.back());
      flying_.pop_back();
      land(*job);
      end_try(std::move(job), work);
    }
    return settled > 0;
  }

  void end_try(JobPointer job, TransferWork& work) {
    reached_ = reached_ || job->attempt.status != 0;
    const bool success = job->attempt.succeeded();
    const bool last = job->retries.last();
    if (success && (work.take(job->number, job->attempt, job->retries.tries() + 1, last) || last)) return;
    const auto pause = job->retries.enter(job->attempt, success);
    if (!pause) return give(*job, work);
    job->due = Clock::now() + *pause;
    paused_.push_back(std::move(job));
  }

  // A failure, for good.
  void give(Job& job, TransferWork& work) const {
    if (!reached_ && unreachable(job.attempt.code)) {
      throw Error(ErrorCode::model, fmt::format("{}: {}{}", options_.name, job.attempt.reason,
                                                after_tries(job.retries.tries())));
    }
    work.take(job.number, job.attempt, job.retries.tries(), true);
  }

  // Until something comes, a pause is over, or it is time to look whether the run is stopped.
  void wait() {
    milliseconds longest = kTick;
    if (flying_.size() < in_flight_) {
      const auto now = Clock::now();
      for (const JobPointer& job : paused_)
        longest = std::min(longest, std::chrono::ceil<milliseconds>(job->due - now));
    }
    events_.wait(longest);
  }

  HttpOptions options_;
  std::size_t in_flight_;
  CurlHeaders headers_;
  MultiEvents events_;
  std::vector<CurlHandle> idle_;
  const std::string* url_ = nullptr;         // of the run
  std::vector<JobPointer> flying_, paused_;  // of the run
  bool reached_ = false;
};

HttpTransfers::HttpTransfers(HttpOptions options, std::size_t in_flight)
    : engine_(std::make_unique<Engine>(std::move(options), in_flight)) {}
HttpTransfers::~HttpTransfers() = default;

void HttpTransfers::run(const std::string& url, std::size_t count, TransferWork& work) {
  engine_->run(url, count, work);
}

}  // namespace harmonia
