#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "../model/http_client.hpp"

namespace harmonia {

struct HttpAttempt;

/// What is to be sent and where answers go. Called from the thread that runs the transfers.
class TransferWork {
 public:
  /// Whether a request may be made: now, once another has ended, or not any more.
  enum class Leave { now, later, never };

  virtual ~TransferWork() = default;
  /// Asked before every try of request `number`; `now` counts as made. `later` only while another is under
  /// way.
  virtual Leave leave(std::size_t number) = 0;
  /// What request `number` sends.
  virtual std::string body(std::size_t number) = 0;
  /// Takes what `tries` tries of a request came to: an answer of success, or, if it is the last try, the
  /// failure. No tries: leave() said never. False: the answer cannot be used, and is asked for again unless
  /// it is the last.
  virtual bool take(std::size_t number, HttpAttempt& attempt, int tries, bool last) = 0;
  /// What came together has been taken; called before further requests are made, and when a run ends.
  virtual void settled() {}
};

/// Requests from one thread, many in flight, over connections that are kept open. Tries again as HttpClient
/// does; while one request pauses others go on, but not more than twice `in_flight` are begun and not ended,
/// so that a server that is busy is not asked everything at once.
class HttpTransfers {
 public:
  /// Throws Error(usage) for options that cannot be used.
  HttpTransfers(HttpOptions options, std::size_t in_flight);
  ~HttpTransfers();
  HttpTransfers(const HttpTransfers&) = delete;
  HttpTransfers& operator=(const HttpTransfers&) = delete;

  /// Posts requests 0 … count − 1 to the address. Throws Error(interrupted) when stopped, Error(model) if the
  /// server cannot be reached and never was, and what `work` throws; requests in flight are then given up.
  void run(const std::string& url, std::size_t count, TransferWork& work);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace harmonia
