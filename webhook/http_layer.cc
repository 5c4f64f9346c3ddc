#include "webhook/http_layer.h"

#include <httplib.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace mindgate::webhook {
namespace {

// Reads from a request in memory, writes to a string.
class MemoryStream final : public httplib::Stream {
 public:
  explicit MemoryStream(const Request& request) : head_(request.head), body_(request.body) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* buffer, size_t size) override {
    std::string_view& from = head_.empty() ? body_ : head_;
    const size_t count = std::min(size, from.size());
    std::memcpy(buffer, from.data(), count);
    from.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    written_.append(bytes, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

  std::string TakeWritten() { return std::move(written_); }

 private:
  std::string_view head_;
  std::string_view body_;
  std::string written_;
};

void Fill(const HttpResponse& from, httplib::Response& to) {
  to.status = from.status;
  if (from.retry_after >= 0) to.set_header("Retry-After", std::to_string(from.retry_after));
  to.set_content(from.body, from.content_type);
}

httplib::Server::Handler Adapt(HttpLayer::Handler handler) {
  return
      [handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
        HttpRequest view;
        view.path = request.path;
        view.body = request.body;
        view.verbose = request.has_param("verbose");
        const auto traceparent = request.headers.find("traceparent");
        if (traceparent != request.headers.end()) view.traceparent = traceparent->second;
        Fill(handler(view), response);
      };
}

}  // namespace

HttpResponse RefusalResponse(Refusal refusal, std::string_view detail) {
  const RefusalInfo& info = InfoOf(refusal);
  HttpResponse response;
  response.status = info.status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = info.text;
  if (!detail.empty()) {
    response.body += ": ";
    response.body += detail;
  }
  response.body += "\n";
  constexpr std::string_view kRetry = "Retry-After: ";
  if (info.header.starts_with(kRetry)) response.retry_after = info.header[kRetry.size()] - '0';
  return response;
}

class HttpLayer::Impl final : public httplib::Server {
 public:
  Impl(std::function<void(std::string_view)> on_bug, std::function<void()> on_not_found)
      : on_bug_(std::move(on_bug)), on_not_found_(std::move(on_not_found)) {
    set_payload_max_length(FramingLimits{}.body_bytes);
    // The first request makes the library's tables (of method names, for one). Here no other thread
    // is there yet, and the first review need not wait for it.
    Request first;
    first.head = "GET / HTTP/1.1\r\n\r\n";
    MemoryStream stream(first);
    bool closed = false;
    process_request(stream, true, closed, nullptr);
    // Called for every answer of 400 and more, those of handlers included.
    set_error_handler([this](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const bool not_found = response.status == 404;
      if (not_found) {
        on_not_found_();
      } else {
        on_bug_("the HTTP layer refused what the framing let through");
      }
      Fill(RefusalResponse(not_found ? Refusal::kNotFound : Refusal::kInternal), response);
    });
    // Without one the library puts the exception's text into a header, EXCEPTION_WHAT.
    set_exception_handler([this](const httplib::Request&, httplib::Response& response,
                                 const std::exception_ptr& failure) {
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        on_bug_(error.what());
      } catch (...) {
        on_bug_("an exception of unknown type");
      }
      Fill(RefusalResponse(Refusal::kInternal), response);
    });
    // How long a connection may stay is the connection layer's affair, and no client reads this
    // header.
    set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
      response.headers.erase("Keep-Alive");
    });
  }

  Answer Serve(const Request& request, bool close) {
    MemoryStream stream(request);
    bool closed = false;
    try {
      process_request(stream, close, closed, nullptr);
    } catch (const std::exception& error) {
      on_bug_(error.what());
      return {RefusalAnswer(Refusal::kInternal, true), true};
    }
    std::string bytes = stream.TakeWritten();
    if (bytes.empty()) {
      on_bug_("no answer was written");
      return {RefusalAnswer(Refusal::kInternal, true), true};
    }
    return {std::move(bytes), close};
  }

 private:
  const std::function<void(std::string_view)> on_bug_;
  const std::function<void()> on_not_found_;
};

HttpLayer::HttpLayer(std::function<void(std::string_view what)> on_bug,
                     std::function<void()> on_not_found)
    : impl_(std::make_unique<Impl>(std::move(on_bug), std::move(on_not_found))) {}

HttpLayer::~HttpLayer() = default;

void HttpLayer::Get(const std::string& path, Handler handler) {
  impl_->Get(path, Adapt(std::move(handler)));
}

void HttpLayer::Post(const std::string& path, Handler handler) {
  impl_->Post(path, Adapt(std::move(handler)));
}

Answer HttpLayer::Serve(const Request& request, bool close) const {
  return impl_->Serve(request, close);
}

}  // namespace mindgate::webhook
