#include "http/request.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/text.h"
#include "http/response.h"

namespace mindgate::http {
namespace {

constexpr std::string_view kVersion = " HTTP/1.1";

constexpr std::string_view kAlphanumerics =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

using ByteSet = std::array<bool, 256>;

constexpr ByteSet AlphanumericsAnd(std::string_view others) {
  ByteSet set{};
  for (const std::string_view bytes : {kAlphanumerics, others}) {
    for (const char c : bytes) set[static_cast<unsigned char>(c)] = true;
  }
  return set;
}

constexpr ByteSet kTokenBytes = AlphanumericsAnd("!#$%&'*+-.^_`|~");  // RFC 9110 5.6.2
// Names, addresses and ports.
constexpr ByteSet kHostBytes = AlphanumericsAnd(".-_:[]%~");

bool ConsistsOf(std::string_view text, const ByteSet& set) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&set](char c) {
    return set[static_cast<unsigned char>(c)];
  });
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

// Visible ASCII only; a fragment never reaches a server.
bool IsTargetByte(char c) { return c > 0x20 && c < 0x7f && c != '#'; }

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool IsJsonType(std::string_view value) {
  const size_t semicolon = value.find(';');
  if (!EqualIgnoreCase(TrimBlanks(value.substr(0, semicolon)), "application/json")) return false;
  if (semicolon == std::string_view::npos) return true;
  const std::string_view parameter = TrimBlanks(value.substr(semicolon + 1));
  return EqualIgnoreCase(parameter, "charset=utf-8") ||
         EqualIgnoreCase(parameter, "charset=\"utf-8\"");
}

// Digits only. A number that does not fit is as large as can be: it is too large a body, not a
// malformed number.
std::optional<size_t> ParseLength(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr size_t kHuge = size_t{1} << 60;
  size_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value >= kHuge / 10 ? kHuge : value * 10 + static_cast<size_t>(c - '0');
  }
  return value;
}

bool HasListItem(std::string_view list, std::string_view item) {
  while (true) {
    const size_t comma = list.find(',');
    if (EqualIgnoreCase(TrimBlanks(list.substr(0, comma)), item)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

bool IsLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZeros(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

std::string_view Request::query() const {
  const size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
}

std::optional<std::string_view> QueryValue(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) != key) continue;
    return equals == std::string_view::npos ? "" : pair.substr(equals + 1);
  }
  return std::nullopt;
}

bool IsTraceparent(std::string_view text) {
  return text.size() == 55 && text.substr(0, 3) == "00-" && text[35] == '-' && text[52] == '-' &&
         IsLowerHex(text.substr(3, 32)) && IsLowerHex(text.substr(36, 16)) &&
         IsLowerHex(text.substr(53, 2)) && !IsZeros(text.substr(3, 32)) &&
         !IsZeros(text.substr(36, 16));
}

void Framer::Refuse(Refusal refusal) {
  refusal_ = refusal;
  state_ = State::kRefused;
}

size_t Framer::Consume(std::string_view bytes) {
  size_t used = 0;
  while (state_ == State::kHead && used < bytes.size()) used += ConsumeHead(bytes.substr(used));
  if (state_ == State::kBody) used += ConsumeBody(bytes.substr(used));
  return used;
}

// Takes at most one line, or the part of it that is there.
size_t Framer::ConsumeHead(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  const bool whole = end != std::string_view::npos;
  const size_t size = whole ? end + 1 : bytes.size();
  // The longest request line that can be right: method, target, version, CR LF. A method that long
  // is refused below.
  const size_t longest_first = 16 + limits_.target_bytes + kVersion.size() + 2;
  const size_t head_room = limits_.head_bytes - head_bytes_;
  const size_t line_room = request_line_seen_ ? head_room : longest_first - line_.size();
  if (size > std::min(head_room, line_room)) {
    Refuse(line_room < head_room ? Refusal::kTargetTooLong : Refusal::kHeadTooLarge);
    return std::min(head_room, line_room) + 1;
  }
  head_bytes_ += size;
  if (!whole) {
    line_.append(bytes);
    return size;
  }
  if (line_.empty()) {
    OnLine(bytes.substr(0, end));
  } else {
    line_.append(bytes.substr(0, end));
    const std::string line = std::exchange(line_, {});
    OnLine(line);
  }
  return size;
}

size_t Framer::ConsumeBody(std::string_view bytes) {
  std::string& body = request_.body;
  const size_t size = std::min(bytes.size(), *content_length_ - body.size());
  // Grows with what arrives and not with what was promised, and never past it: std::string::reserve
  // would at least double.
  if (body.capacity() < body.size() + size) {
    std::string larger;
    const size_t most = std::max(body.size() + size, 2 * body.capacity());
    larger.reserve(std::min(*content_length_, most) + kBodyRoom);
    larger.append(body);
    body.swap(larger);
  }
  body.append(bytes.substr(0, size));
  if (body.size() == *content_length_) state_ = State::kComplete;
  return size;
}

void Framer::OnLine(std::string_view line) {
  if (line.empty() || line.back() != '\r') return Refuse(Refusal::kLineEnding);
  line.remove_suffix(1);
  if (line.find('\r') != std::string_view::npos) return Refuse(Refusal::kLineEnding);
  if (!request_line_seen_) return OnRequestLine(line);
  if (line.empty()) return OnHeadComplete();
  OnHeader(line);
}

void Framer::OnRequestLine(std::string_view line) {
  request_line_seen_ = true;
  if (std::any_of(line.begin(), line.end(), IsControl)) return Refuse(Refusal::kControlByte);
  const size_t space = line.find(' ');
  const size_t last = line.rfind(' ');
  if (space == std::string_view::npos || last == space) return Refuse(Refusal::kRequestLine);
  const std::string_view method = line.substr(0, space);
  const std::string_view target = line.substr(space + 1, last - space - 1);
  const std::string_view version = line.substr(last + 1);
  if (!ConsistsOf(method, kTokenBytes) || !version.starts_with("HTTP/"))
    return Refuse(Refusal::kRequestLine);
  if (version != "HTTP/1.1") return Refuse(Refusal::kVersion);
  if (port_ == Port::kPosts && method != "POST") return Refuse(Refusal::kNotPost);
  if (port_ == Port::kGets && method != "GET" && method != "HEAD") {
    return Refuse(Refusal::kNotGet);
  }
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), IsTargetByte)) {
    return Refuse(Refusal::kRequestLine);
  }
  if (target.size() > limits_.target_bytes) return Refuse(Refusal::kTargetTooLong);
  request_.method = method == "POST"   ? Method::kPost
                    : method == "HEAD" ? Method::kHead
                                       : Method::kGet;
  request_.target = target;
}

void Framer::OnHeader(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return Refuse(Refusal::kFoldedHeader);
  if (std::any_of(line.begin(), line.end(), IsControl)) return Refuse(Refusal::kControlByte);
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !ConsistsOf(line.substr(0, colon), kTokenBytes)) {
    return Refuse(Refusal::kHeaderName);
  }
  if (++headers_ > limits_.headers) return Refuse(Refusal::kTooManyHeaders);
  OnKnownHeader(line.substr(0, colon), TrimBlanks(line.substr(colon + 1)));
}

void Framer::OnKnownHeader(std::string_view name, std::string_view value) {
  const auto is = [name](std::string_view known) { return EqualIgnoreCase(name, known); };
  if (is("Content-Length")) {
    const auto length = ParseLength(value);
    if (!length || content_length_) return Refuse(Refusal::kContentLength);
    content_length_ = length;
  } else if (is("Transfer-Encoding")) {
    transfer_encoding_ = true;
  } else if (is("Content-Encoding")) {
    content_encoding_ = true;
  } else if (is("Content-Type")) {
    ++content_types_;
    json_ = IsJsonType(value);
  } else if (is("Host")) {
    if (++hosts_ > 1 || !ConsistsOf(value, kHostBytes)) return Refuse(Refusal::kHost);
  } else if (is("Expect")) {
    if (!EqualIgnoreCase(value, "100-continue")) return Refuse(Refusal::kExpectation);
    expect_continue_ = true;
  } else if (is("Connection")) {
    request_.close = request_.close || HasListItem(value, "close");
  } else if (is("traceparent")) {
    // Two of them are not a trace context (W3C: 3.2.2.5), and neither is a malformed one.
    request_.traceparent = ++traceparents_ == 1 && IsTraceparent(value) ? value : "";
  }
}

void Framer::OnHeadComplete() {
  if (hosts_ != 1) return Refuse(Refusal::kHost);
  if (transfer_encoding_) {
    return Refuse(content_length_ ? Refusal::kLengthAndCoding : Refusal::kTransferEncoding);
  }
  if (port_ == Port::kGets) {
    if (content_length_.value_or(0) != 0) return Refuse(Refusal::kUnexpectedBody);
    state_ = State::kComplete;
    return;
  }
  if (!content_length_) return Refuse(Refusal::kNoContentLength);
  if (*content_length_ > limits_.body_bytes) return Refuse(Refusal::kBodyTooLarge);
  if (content_encoding_) return Refuse(Refusal::kContentEncoding);
  if (content_types_ != 1 || !json_) return Refuse(Refusal::kContentType);
  state_ = *content_length_ == 0 ? State::kComplete : State::kBody;
}

Request Framer::Take() {
  Request request = std::move(request_);
  *this = Framer(port_, limits_);
  return request;
}

Router::Router(std::vector<Route> routes, std::function<void(std::string_view)> on_bug,
               std::function<void()> on_not_found)
    : routes_(std::move(routes)),
      on_bug_(std::move(on_bug)),
      on_not_found_(std::move(on_not_found)) {}

const Router::Handler* Router::Find(std::string_view path) const {
  const auto route = std::find_if(routes_.begin(), routes_.end(),
                                  [path](const Route& known) { return known.path == path; });
  return route == routes_.end() ? nullptr : &route->handler;
}

Response Router::Serve(const Request& request) const {
  const std::string_view path = request.path();
  const Handler* handler = Find(path);
  if (handler == nullptr && path.find('%') != std::string_view::npos) {
    handler = Find(PercentDecoded(path));
  }
  if (handler == nullptr) {
    on_not_found_();
    return RefusalResponse(Refusal::kNotFound);
  }
  try {
    return (*handler)(request);
  } catch (const std::exception& bug) {
    on_bug_(bug.what());
  } catch (...) {
    on_bug_("an exception of unknown type");
  }
  return RefusalResponse(Refusal::kInternal);
}

}  // namespace mindgate::http
