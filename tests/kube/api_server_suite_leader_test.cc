// Leases and Events as their users write them. See api_server_suite.h.
#include <map>
#include <random>

#include "kube/api_server_suite.h"
#include "kube/election.h"
#include "kube/events.h"
#include "kube/fake_transport.h"
#include "support/fake_clock.h"

namespace mindgate::kube::testing {
namespace {

using ::mindgate::testing::FakeClock;

constexpr std::chrono::seconds kFlushTime(60);  // for what must come, on the slowest machine

// Holds the Lease for one renewal, then gives it up. Returns the specs seen while it led.
std::vector<Json> LeadForAWhile(Client& client, const std::string& ns, const std::string& name) {
  FakeClock clock;
  std::stop_source stop;
  std::vector<Json> specs;
  TimedPauser sleeper([&](std::chrono::milliseconds time) {
    clock.Advance(time);
    specs.push_back(Value(client.Get(resources::kLeases, ns, "watcher")).at("spec"));
    if (specs.size() == 2) stop.request_stop();
  });
  Elector elector(client, sleeper, clock,
                  {.ns = ns,
                   .name = "watcher",
                   .identity = name,
                   .failed = [](const Fault& fault) { ADD_FAILURE() << fault.message; }},
                  1);
  elector.Run(stop.get_token(), [](bool) {});
  return specs;
}

TEST_P(ApiServerSuite, ALeaseGoesFromOneReplicaToTheNext) {
  const auto one = LeadForAWhile(client(), ns(), "one");
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[0], Json({{"holderIdentity", "one"},
                          {"leaseDurationSeconds", 60},
                          {"leaseTransitions", 0},
                          {"acquireTime", "2026-01-01T00:00:00.000000Z"},
                          {"renewTime", "2026-01-01T00:00:00.000000Z"}}));
  EXPECT_EQ(one[1].at("holderIdentity"), "one");
  EXPECT_EQ(one[1].at("acquireTime"), one[0].at("acquireTime"));
  EXPECT_NE(one[1].at("renewTime"), one[0].at("renewTime"));
  const Json released = Get(resources::kLeases, "watcher").at("spec");
  EXPECT_EQ(released.at("holderIdentity"), "");
  EXPECT_EQ(released.at("leaseDurationSeconds"), 1);

  const auto two = LeadForAWhile(client(), ns(), "two");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].at("holderIdentity"), "two");
  EXPECT_EQ(two[0].at("leaseTransitions"), 1);
}

// The Events of a namespace that we wrote, by what they regard.
std::map<std::string, Json> OurEvents(Client& client, const std::string& ns) {
  std::map<std::string, Json> events;
  for (Json& event : Value(client.List(resources::kEvents, ns)).items) {
    if (event.value("reportingController", "") != "mindgate.io/test") continue;
    std::string name = event.at("regarding").at("name");
    events[std::move(name)] = std::move(event);
  }
  return events;
}

TEST_P(ApiServerSuite, EventsAndTheirSeriesAreTaken) {
  FakeClock clock;
  RealSleeper sleeper;
  Recorder recorder(client(), sleeper, clock,
                    {.controller = "mindgate.io/test",
                     .instance = "test-0",
                     .failed = [](const Fault& fault) { ADD_FAILURE() << fault.message; }},
                    std::random_device()());
  const EventRecord held{.regarding = {"v1", "Pod", ns(), "pod-a", "uid-1"},
                         .type = EventRecord::Type::kWarning,
                         .reason = "Held",
                         .action = "Hold",
                         .note = "no room"};
  EventRecord longest = held;
  longest.regarding.name = std::string(250, 'b');
  longest.reason = std::string(1000, 'R');
  longest.action = std::string(1000, 'A');
  longest.note = std::string(1023, 'x') + "\u5347";
  // As many bytes as fit, in fewer characters.
  EventRecord chinese = held;
  chinese.regarding.name = "pod-c";
  chinese.note.clear();
  for (int i = 0; i < 400; ++i) chinese.note += "\u5347";
  recorder.Record(longest);
  recorder.Record(chinese);
  recorder.Record(held);
  clock.Advance(std::chrono::seconds(5));
  recorder.Record(held);
  recorder.Record(held);
  ASSERT_TRUE(recorder.Flush(kFlushTime));
  EXPECT_EQ(recorder.counts().written, 4u);

  auto events = OurEvents(client(), ns());
  ASSERT_EQ(events.size(), 3u);
  const Json& event = events.at("pod-a");
  EXPECT_EQ(event.at("type"), "Warning");
  EXPECT_EQ(event.at("reason"), "Held");
  EXPECT_EQ(event.at("action"), "Hold");
  EXPECT_EQ(event.at("note"), "no room");
  EXPECT_EQ(event.at("reportingInstance"), "test-0");
  EXPECT_EQ(event.at("eventTime"), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(event.at("series"),
            Json({{"count", 3}, {"lastObservedTime", "2026-01-01T00:00:05.000000Z"}}));
  EXPECT_EQ(events.at("pod-c").at("note").get<std::string>().size(), 1023u);

  // One that is gone is recreated.
  Done(client().Delete(resources::kEvents, ns(), NameOf(event)));
  recorder.Record(held);
  ASSERT_TRUE(recorder.Flush(kFlushTime));
  events = OurEvents(client(), ns());
  EXPECT_EQ(events.at("pod-a").at("series").at("count"), 4);
}

TEST_P(ApiServerSuite, EventsAboutWhatIsInNoNamespace) {
  FakeClock clock;
  RealSleeper sleeper;
  Recorder recorder(client(), sleeper, clock,
                    {.controller = "mindgate.io/test",
                     .instance = "test-0",
                     .failed = [](const Fault& fault) { ADD_FAILURE() << fault.message; }},
                    std::random_device()());
  const std::vector<std::string> names = {"node-of-" + ns(), "role:of:" + ns()};
  for (const std::string& name : names) {
    recorder.Record({.regarding = {"v1", "Node", "", name, ""},
                     .reason = "Isolated",
                     .action = "Taint",
                     .note = "its cards are faulty"});
  }
  ASSERT_TRUE(recorder.Flush(kFlushTime));
  // The namespace is not the test's own.
  const auto events = OurEvents(client(), "default");
  for (const std::string& name : names) {
    ASSERT_TRUE(events.contains(name)) << name;
    Done(client().Delete(resources::kEvents, "default", NameOf(events.at(name))));
  }
}

}  // namespace
}  // namespace mindgate::kube::testing
