#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http_server.hpp"

namespace harmonia {

/// The headers in a request's head, which begins with the request's line and ends with an empty one. None:
/// some line is not NAME: VALUE without control characters, or does not end with CR LF. Readers that are more
/// patient disagree about where requests end. [RFC 9112, sections 2.2 and 5]
std::optional<std::vector<HttpField>> read_fields(std::string_view head);

/// What is wrong with how a body's length is said; empty: nothing. [RFC 9112, section 6.3]
std::string framing_fault(const std::vector<HttpField>& fields, bool takes_body);

/// The media type of a request's body without parameters, in lower case: text/csv.
std::string media_type(const HttpRequest& request);

/// The name that the server was asked for by, without the port.
std::string host_name(const HttpRequest& request);

/// What a cookie of this server is called. Browsers keep cookies by host and not by port: two servers of one
/// machine must not take each other's.
std::string cookie_name(const HttpRequest& request);

/// The value of a cookie; empty if it was not sent.
std::string cookie_of(const HttpRequest& request, const std::string& name);

/// The value of a field of a posted form (application/x-www-form-urlencoded); empty if it has none.
std::string form_value(std::string_view body, std::string_view name);

}  // namespace harmonia
