#pragma once

#include <string>
#include <string_view>

namespace mindgate::http {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kTextType = "text/plain; charset=utf-8";

// What a request is answered with. Views are of constants.
struct Response {
  int status = 200;
  std::string_view content_type = kJsonType;
  std::string body = {};
  std::string_view header = {};  // one more line of the head, without its end: "Retry-After: 1"
  bool close = false;            // the connection ends after it

  bool operator==(const Response&) const = default;
};

// For those who have only text to say.
Response PlainText(int status, std::string text);

// "Payload Too Large"; "Error" for a status that mindgate never sends.
std::string_view ReasonPhrase(int status);

// Appends the answer as it goes on the wire; there is no other place that writes one. `head_only`
// is for a HEAD: its answer says how long the body would be and leaves it out.
void AppendResponse(const Response& response, bool head_only, std::string& out);

}  // namespace mindgate::http
