#pragma once

#include <string>
#include <string_view>

#include "http_server.hpp"

namespace harmonia {

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
