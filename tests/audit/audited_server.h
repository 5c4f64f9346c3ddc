#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "audit/collections.h"
#include "audit/reports.h"
#include "base/log.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"
#include "support/fake_clock.h"
#include "support/workloads.h"
#include "watcher/frame/informers.h"

namespace mindgate::audit::testing {

// A fake API server that has every kind that an audit reads, and what a controller needs.
struct AuditedServer : ::testing::Test {
  mindgate::testing::FakeClock clock;
  kube::testing::FakeApiServer server{{.clock = &clock}};
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock, [](std::string_view) {}};
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  watcher::PodInformer pods{client, sleeper, clock, {}};

  AuditedServer() {
    for (const kube::Resource& resource : AllCollections()) {
      if (!client.List(resource, "")) server.Register({.resource = resource, .custom = true});
    }
    server.ForgetRequests();
  }

  // All kinds that make pods, pods and namespaces are watched.
  static size_t AllWatches() {
    size_t watches = 2;
    for (const schemas::KindInfo& info : schemas::kKinds) {
      if (schemas::kPodMakers.Has(info.kind)) ++watches;
    }
    return watches;
  }
  bool WaitForAllWatches() const { return server.WaitForWatches(AllWatches()); }

  // The kinds of an operator, whose CRDs are there.
  schemas::SiteKinds Installed(std::string_view name) {
    schemas::SiteKinds site(schemas::ShippedKindsNamed(name));
    for (size_t i = 0; i < site.size(); ++i) {
      server.Register({.resource = ResourceOf(site.info(i)), .custom = true});
    }
    return site;
  }

  // A Deployment with NPUs whose label fault-scheduling has that value.
  void PutChat(const std::string& ns, const std::string& fault_scheduling) {
    auto chat = ::mindgate::testing::Workload(schemas::Kind::kDeployment,
                                              {.container = ::mindgate::testing::NpuContainer(),
                                               .labels = {{"fault-scheduling", fault_scheduling}}});
    chat["metadata"]["name"] = "chat";
    chat["metadata"]["namespace"] = ns;
    chat["metadata"]["uid"] = "uid-" + ns;
    server.Put(kube::resources::kDeployments, chat);
  }
};

}  // namespace mindgate::audit::testing
