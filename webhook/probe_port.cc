#include "webhook/probe_port.h"

namespace mindgate::webhook {

ProbePort::ProbePort(Options options)
    : options_(std::move(options)),
      http_(options_.on_bug, [this] { front_end_->stats().Add(Refusal::kNotFound); }) {}

Result<std::unique_ptr<ProbePort>> ProbePort::Open(Options options, Routes routes) {
  std::unique_ptr<ProbePort> port(new ProbePort(std::move(options)));
  for (auto& [path, handler] : routes) port->http_.Get(path, std::move(handler));
  FrontEnd::Options front_end;
  front_end.name = "probe";
  front_end.listen = port->options_.listen;
  front_end.max_connections = port->options_.max_connections;
  front_end.settings = port->options_.settings;
  front_end.settings.port = Port::kProbe;
  front_end.budget = &port->budget_;
  front_end.clock = port->options_.clock;
  front_end.handler = [self = port.get()](const Request& request, Clock::Instant,
                                          const Responder& responder) {
    responder.Send(self->http_.Serve(request, request.close || self->options_.closing()));
  };
  auto opened = FrontEnd::Open(std::move(front_end));
  if (!opened) return tl::unexpected(std::move(opened).error());
  port->front_end_ = *std::move(opened);
  return port;
}

HttpResponse PlainText(int status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

HttpResponse MetricsText(std::string text) {
  return {200, "text/plain; version=0.0.4; charset=utf-8", std::move(text)};
}

}  // namespace mindgate::webhook
