#include "http/probe_port.h"

#include <utility>

namespace mindgate::http {

ProbePort::ProbePort(Options options, std::vector<Router::Route> routes)
    : options_(std::move(options)), router_(std::move(routes), options_.on_bug, [this] {
        front_end_->stats().Add(Refusal::kNotFound);
      }) {}

Result<std::unique_ptr<ProbePort>> ProbePort::Open(Options options,
                                                   std::vector<Router::Route> routes) {
  std::unique_ptr<ProbePort> port(new ProbePort(std::move(options), std::move(routes)));
  FrontEnd::Options front_end;
  front_end.name = "probe";
  front_end.listen = port->options_.listen;
  front_end.max_connections = port->options_.max_connections;
  front_end.settings = port->options_.settings;
  front_end.settings.port = Port::kGets;
  front_end.budget = &port->budget_;
  front_end.clock = port->options_.clock;
  front_end.handler = [self = port.get()](const Request& request, const Arrival&,
                                          const Responder&) {
    Response response = self->router_.Serve(request);
    response.close = self->options_.closing();
    return response;
  };
  auto opened = FrontEnd::Open(std::move(front_end));
  if (!opened) return tl::unexpected(std::move(opened).error());
  port->front_end_ = *std::move(opened);
  return port;
}

Response MetricsText(std::string text) {
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(text)};
}

}  // namespace mindgate::http
