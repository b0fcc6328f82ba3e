#pragma once

#include <stdexcept>
#include <string>

namespace harmonia {

/// Who has to act on an error; the edges turn it into exit codes, HTTP statuses or exceptions.
enum class ErrorCode {
  usage,        ///< an option or argument is wrong
  input,        ///< a file or its contents are wrong
  model,        ///< the model failed or answered what cannot be used
  interrupted,  ///< the user asked to stop
};

/// Anything a user can cause. The message is one line: the thing, what was found, what was expected.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace harmonia
