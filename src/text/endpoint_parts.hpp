#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../model/http_attempt.hpp"
#include "harmonia/text/endpoint.hpp"

/// What the clients of an endpoint share.
namespace harmonia {

/// Where and how an endpoint is asked, and what it says that concerns every text.
class EndpointAddress {
 public:
  /// path: such as /chat/completions. Throws Error(usage) for an address that cannot be used.
  EndpointAddress(const EndpointOptions& options, std::string_view path);

  /// What errors call it: without the path.
  const std::string& name() const { return name_; }
  const std::string& base() const { return base_; }
  const std::string& url() const { return url_; }
  /// For the client, with the key in a header.
  HttpOptions http() const;

  /// Why there is no answer of success, in a line without keys: "status 500 after 5 tries: out of memory".
  std::string failure(const HttpAttempt& attempt, int tries) const;
  /// Throws Error(model) if a status says that no text will be answered: no such key, model or address.
  void require_served(const HttpAttempt& attempt, int tries) const;
  /// What a chat's attempt came to.
  ChatAnswer chat_answer(const HttpAttempt& attempt, int tries) const;
  /// The text with stars for keys and values of headers that are in it.
  std::string without_secrets(std::string text) const;

 private:
  EndpointOptions options_;
  std::string base_, name_, url_;
  std::vector<std::string> secrets_;
};

/// Whether an endpoint refuses the text, and not only for now.
bool refuses_text(const HttpAttempt& attempt);

}  // namespace harmonia
