#include "kube/informer.h"

#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "json/value.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/fake_clock.h"

namespace mindgate::kube::testing {
namespace {

using mindgate::testing::Eventually;
using mindgate::testing::FakeClock;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Phases = Informer<std::string>;
using Content = std::map<std::string, std::string>;

Json AnnotatedPod(const std::string& name, const std::string& phase) {
  return {{"metadata", {{"name", name}, {"annotations", {{"large", std::string(1000, 'x')}}}}},
          {"spec", {{"nodeName", "n"}, {"containers", Json::array({{{"name", "main"}}})}}},
          {"status", {{"phase", phase}}}};
}

Content ContentOf(const Collection<std::string>& objects) {
  Content content;
  objects.ForEach([&](const std::string& key, const std::string& phase) { content[key] = phase; });
  return content;
}

// An informer of pods by phase, and what its callbacks were given.
class RunningInformer {
 public:
  explicit RunningInformer(FakeApiServer& fake, const std::string& labels = "",
                           std::shared_ptr<const Collection<std::string>> known = nullptr)
      : transport_(MakeTransport(AccessTo(fake.url()), "mindgate-test")),
        client_(*transport_, sleeper_),
        informer_(client_, sleeper_, clock_, MakeOptions(labels, std::move(known))),
        thread_([this](std::stop_token stop) { informer_.Run(std::move(stop)); }) {}

  Phases& informer() { return informer_; }
  Content content() const { return ContentOf(*informer_.objects()); }
  bool WaitFor(const Content& want) const {
    return Eventually([&] { return content() == want; });
  }
  std::vector<std::string> changes() {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  std::vector<Json> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  Phases::Options MakeOptions(const std::string& labels,
                              std::shared_ptr<const Collection<std::string>> known) {
    return {
        .selection = {.resource = resources::kPods,
                      .label_selector = labels,
                      .fields = {{"status", "phase"}},
                      .first_page = 500},
        .project = [this](const json::Value& object) -> std::optional<std::string> {
          const Json pod = json::TreeOf(object);
          {
            const std::lock_guard lock(mutex_);
            seen_.push_back(pod);
          }
          const std::string phase = pod.at("status").at("phase");
          if (phase == "Succeeded") return std::nullopt;
          return phase;
        },
        .changed =
            [this](const std::string& key, const std::string* before, const std::string* after) {
              const std::lock_guard lock(mutex_);
              changes_.push_back(key + ": " + (before == nullptr ? "-" : *before) + " > " +
                                 (after == nullptr ? "-" : *after));
            },
        .known = std::move(known)};
  }

  std::mutex mutex_;
  std::vector<std::string> changes_;
  std::vector<Json> seen_;
  FakeSleeper sleeper_;
  FakeClock clock_;
  std::unique_ptr<Transport> transport_;
  Client client_;
  Phases informer_;
  std::jthread thread_;
};

TEST(Informer, FollowsACollection) {
  FakeApiServer fake;
  fake.Put(resources::kPods, AnnotatedPod("a", "Pending"));
  fake.Put(resources::kPods, AnnotatedPod("b", "Running"));
  RunningInformer running(fake);
  ASSERT_TRUE(running.informer().WaitSynced(seconds(30)));
  EXPECT_EQ(running.content(), Content({{"default/a", "Pending"}, {"default/b", "Running"}}));

  fake.Put(resources::kPods, AnnotatedPod("a", "Running"));
  fake.Put(resources::kPods, AnnotatedPod("c", "Pending"));
  fake.Remove(resources::kPods, "default", "b");
  const Content want = {{"default/a", "Running"}, {"default/c", "Pending"}};
  EXPECT_TRUE(running.WaitFor(want)) << "it has not become what is on the server";
  EXPECT_EQ(running.informer().objects()->size(), 2u);
  ASSERT_NE(running.informer().objects()->Find("default/a"), nullptr);
  EXPECT_EQ(running.informer().objects()->Find("default/b"), nullptr);
  EXPECT_TRUE(Eventually([&] { return running.changes().size() == 5; }));
  const std::vector<std::string> changes = running.changes();
  EXPECT_THAT(std::vector(changes.begin(), changes.begin() + 2),
              UnorderedElementsAre("default/a: - > Pending", "default/b: - > Running"));
  EXPECT_THAT(std::vector(changes.begin() + 2, changes.end()),
              ElementsAre("default/a: Pending > Running", "default/c: - > Pending",
                          "default/b: Running > -"));
}

TEST(Informer, GivesTheNamedFieldsToProject) {
  FakeApiServer fake;
  const Json a = fake.Put(resources::kPods, AnnotatedPod("a", "Pending"));
  RunningInformer running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  const Json b = fake.Put(resources::kPods, AnnotatedPod("b", "Running"));
  ASSERT_TRUE(Eventually([&] { return running.seen().size() == 2; }));
  std::vector<Json> want;
  for (const Json& pod : {a, b}) {
    const Json& metadata = pod.at("metadata");
    want.push_back({{"metadata",
                     {{"name", metadata.at("name")},
                      {"namespace", "default"},
                      {"uid", metadata.at("uid")},
                      {"resourceVersion", metadata.at("resourceVersion")}}},
                    {"status", pod.at("status")}});
  }
  std::vector<Json> seen = running.seen();
  seen[1].erase("kind");  // that of the event comes along
  EXPECT_EQ(seen, want);
}

TEST(Informer, IsNotSyncedBeforeTheFirstList) {
  FakeApiServer fake;
  fake.Put(resources::kPods, AnnotatedPod("a", "Pending"));
  const auto gate = fake.Hold({});
  RunningInformer running(fake);
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_FALSE(running.informer().synced());
  EXPECT_FALSE(running.informer().WaitSynced(std::chrono::milliseconds(0)));
  EXPECT_THAT(running.content(), IsEmpty());
  gate->Release();
  EXPECT_TRUE(running.informer().WaitSynced(seconds(30)));
}

// What it began with is as large as what it has now.
TEST(Informer, KeepsNothingOfWhatAnotherOneKnew) {
  FakeApiServer fake;
  fake.Put(resources::kPods, AnnotatedPod("b", "Running"));
  auto known = std::make_shared<const Collection<std::string>>(Collection<std::string>::Of(
      {std::make_shared<const Collection<std::string>::Entry>("default/a", "Pending")}));
  const std::weak_ptr<const Collection<std::string>> before = known;
  RunningInformer running(fake, "", std::move(known));
  EXPECT_TRUE(running.WaitFor({{"default/b", "Running"}}));
  EXPECT_TRUE(Eventually([&] { return before.expired(); }));
  EXPECT_THAT(running.changes(), ElementsAre("default/a: Pending > -", "default/b: - > Running"));
}

TEST(Informer, SnapshotsDoNotChange) {
  FakeApiServer fake;
  fake.Put(resources::kPods, AnnotatedPod("a", "Pending"));
  RunningInformer running(fake);
  ASSERT_TRUE(running.informer().WaitSynced(seconds(30)));
  const auto before = running.informer().objects();
  const std::string* a = before->Find("default/a");
  ASSERT_TRUE(fake.WaitForWatches(1));
  fake.Put(resources::kPods, AnnotatedPod("a", "Running"));
  ASSERT_TRUE(running.WaitFor({{"default/a", "Running"}}));
  const auto after = running.informer().objects();
  fake.Remove(resources::kPods, "default", "a");
  ASSERT_TRUE(running.WaitFor({}));
  EXPECT_EQ(before->Find("default/a"), a);
  EXPECT_EQ(*a, "Pending");
  EXPECT_THAT(ContentOf(*after), ElementsAre(Pair("default/a", "Running")));
}

TEST(Informer, WhatIsNotProjectedIsNotThere) {
  FakeApiServer fake;
  fake.Put(resources::kPods, AnnotatedPod("a", "Succeeded"));
  fake.Put(resources::kPods, AnnotatedPod("b", "Running"));
  RunningInformer running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  EXPECT_THAT(running.content(), ElementsAre(Pair("default/b", "Running")));
  fake.Put(resources::kPods, AnnotatedPod("b", "Succeeded"));
  fake.Put(resources::kPods, AnnotatedPod("a", "Running"));
  EXPECT_TRUE(running.WaitFor({{"default/a", "Running"}}));
  EXPECT_THAT(running.changes(), ElementsAre("default/b: - > Running", "default/b: Running > -",
                                             "default/a: - > Running"));
}

TEST(Informer, WhatLeavesTheSelectorIsGone) {
  FakeApiServer fake;
  const auto put = [&](const char* tier) {
    Json pod = AnnotatedPod("a", "Running");
    pod["metadata"]["labels"] = {{"tier", tier}};
    fake.Put(resources::kPods, pod);
  };
  put("front");
  RunningInformer running(fake, "tier=front");
  ASSERT_TRUE(fake.WaitForWatches(1));
  EXPECT_EQ(running.content().size(), 1u);
  put("back");
  EXPECT_TRUE(running.WaitFor({}));
  put("front");
  EXPECT_TRUE(running.WaitFor({{"default/a", "Running"}}));
}

// What happened between an expired watch and the new list is found by comparison.
TEST(Informer, AnotherListReportsWhatWasMissed) {
  FakeApiServer fake;
  for (const char* name : {"changed", "gone", "same"}) {
    fake.Put(resources::kPods, AnnotatedPod(name, "Pending"));
  }
  RunningInformer running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  const auto gate = fake.Hold({.target_part = "watch=true"});
  fake.CutWatches(FakeApiServer::Cut::kConnection);
  ASSERT_TRUE(gate->WaitUntilHeld());
  fake.Put(resources::kPods, AnnotatedPod("changed", "Running"));
  fake.Remove(resources::kPods, "default", "gone");
  fake.Put(resources::kPods, AnnotatedPod("new", "Pending"));
  fake.Compact();
  const auto list = fake.Hold({.target_part = "limit="});
  gate->Release();
  ASSERT_TRUE(list->WaitUntilHeld());
  // Readers keep what there was until the whole list is in.
  EXPECT_EQ(running.content().size(), 3u);
  EXPECT_NE(running.informer().objects()->Find("default/gone"), nullptr);
  EXPECT_TRUE(running.informer().synced());
  list->Release();
  EXPECT_TRUE(running.WaitFor(
      {{"default/changed", "Running"}, {"default/new", "Pending"}, {"default/same", "Pending"}}));
  ASSERT_TRUE(Eventually([&] { return running.changes().size() >= 7; }));
  const std::vector<std::string> changes = running.changes();
  EXPECT_THAT(
      std::vector(changes.begin() + 3, changes.end()),
      UnorderedElementsAre("default/gone: Pending > -", "default/changed: Pending > Running",
                           "default/new: - > Pending", "default/same: Pending > Pending"));
}

// Notes the largest answer.
class Measuring final : public Transport {
 public:
  explicit Measuring(const std::string& url)
      : transport_(MakeTransport(AccessTo(url), "mindgate-test")) {}

  Answer<HttpAnswer> Send(const HttpCall& call, std::stop_token stop) override {
    auto answer = transport_->Send(call, std::move(stop));
    if (answer) largest_ = std::max<size_t>(largest_, answer->body.capacity());
    return answer;
  }
  Answer<HttpAnswer> Stream(const HttpCall& call, const Consume& consume,
                            std::stop_token stop) override {
    return transport_->Stream(call, consume, std::move(stop));
  }
  size_t largest() const { return largest_; }

 private:
  const std::unique_ptr<Transport> transport_;
  std::atomic<size_t> largest_ = 0;
};

// 70 MB, of which it never holds more than a page.
TEST(Informer, SeventyConfigMapsOfAMegabyte) {
  constexpr int kConfigMaps = 70;
  FakeApiServer fake;
  for (int i = 0; i < kConfigMaps; ++i) {
    fake.Put(resources::kConfigMaps, {{"metadata", {{"name", std::to_string(i)}}},
                                      {"data", {{"x", std::string(1'000'000, 'x')}}}});
  }
  Measuring transport(fake.url());
  FakeSleeper sleeper;
  FakeClock clock;
  // A page that takes longer on a slow machine is not a fault here.
  Client client(transport, sleeper, {.timeout = seconds(300)});
  Informer<size_t> informer(
      client, sleeper, clock,
      {.selection = {.resource = resources::kConfigMaps, .fields = {{"data"}}},
       .project = [](const json::Value& object) {
         return std::optional(json::FindPath(object, {"data", "x"})->text().size());
       }});
  const std::jthread thread([&](std::stop_token stop) { informer.Run(std::move(stop)); });
  ASSERT_TRUE(informer.WaitSynced(seconds(300)));
  size_t bytes = 0;
  informer.objects()->ForEach([&](const std::string&, size_t size) { bytes += size; });
  EXPECT_EQ(bytes, 70'000'000u);
  EXPECT_LE(transport.largest(), ClientOptions().page_bytes);
  EXPECT_EQ(informer.counts().lists, 1u);
}

// Two informers of pods, one of which knows what to make of a pod that is too large.
struct TooLargeTest : ::testing::Test {
  FakeApiServer fake;
  FakeSleeper sleeper;
  FakeClock clock;
  std::unique_ptr<Transport> transport = MakeTransport(AccessTo(fake.url()), "mindgate-test");
  Client client{*transport, sleeper, {.page_bytes = 4 * 1024, .object_bytes = 8 * 1024}};
  std::mutex mutex;
  std::vector<std::string> faults;
  Phases strict{client, sleeper, clock, OptionsOf(nullptr)};
  Phases lenient{client, sleeper, clock, OptionsOf([](const json::Value& pod) {
                   const Json metadata = json::TreeOf(pod).at("metadata");
                   return std::optional("unknown, version " +
                                        metadata.at("resourceVersion").get<std::string>());
                 })};

  Phases::Options OptionsOf(
      std::function<std::optional<std::string>(const json::Value& metadata_only)> left_out) {
    return {
        .selection = {.resource = resources::kPods, .fields = {{"status", "phase"}}},
        .project =
            [](const json::Value& pod) {
              return std::optional(std::string(json::FindPath(pod, {"status", "phase"})->text()));
            },
        .left_out = std::move(left_out),
        .failed =
            [this](const Fault& fault, std::chrono::milliseconds) {
              const std::lock_guard lock(mutex);
              faults.push_back(fault.message);
            }};
  }
  std::vector<std::string> Faults() {
    const std::lock_guard lock(mutex);
    return faults;
  }
  static Json Large(const std::string& name) {
    Json pod = AnnotatedPod(name, "Running");
    pod["spec"]["nodeName"] = std::string(20 * 1024, 'x');
    return pod;
  }
};

TEST_F(TooLargeTest, ACollectionWithAGapIsNotCurrent) {
  fake.Put(resources::kPods, AnnotatedPod("a", "Running"));
  fake.Put(resources::kPods, Large("b"));
  const std::jthread thread([this](std::stop_token stop) { strict.Run(std::move(stop)); });
  ASSERT_TRUE(fake.WaitForWatches(1));
  EXPECT_THAT(ContentOf(*strict.objects()), ElementsAre(Pair("default/a", "Running")));
  EXPECT_TRUE(strict.synced());
  EXPECT_FALSE(strict.current());
  EXPECT_EQ(strict.left_out(), 1u);
  EXPECT_THAT(Faults(), ElementsAre("GET /api/v1/pods: Pod default/b is larger than 8192 bytes"));

  fake.Put(resources::kPods, AnnotatedPod("b", "Pending"));
  EXPECT_TRUE(Eventually([&] { return strict.current(); }));
  EXPECT_EQ(strict.left_out(), 0u);
  EXPECT_THAT(ContentOf(*strict.objects()),
              ElementsAre(Pair("default/a", "Running"), Pair("default/b", "Pending")));
}

TEST_F(TooLargeTest, WhatIsTooLargeMayBeStoodInFor) {
  const Json b = fake.Put(resources::kPods, Large("b"));
  const std::jthread thread([this](std::stop_token stop) { lenient.Run(std::move(stop)); });
  ASSERT_TRUE(fake.WaitForWatches(1));
  EXPECT_THAT(ContentOf(*lenient.objects()),
              ElementsAre(Pair("default/b", "unknown, version " + VersionOf(b))));
  EXPECT_TRUE(lenient.current());
  EXPECT_EQ(lenient.left_out(), 1u);
}

// It grows while it is watched, and goes.
TEST_F(TooLargeTest, WhatBecomesTooLargeIsAGapUntilItIsGone) {
  fake.Put(resources::kPods, AnnotatedPod("a", "Running"));
  const std::jthread thread([this](std::stop_token stop) { strict.Run(std::move(stop)); });
  ASSERT_TRUE(fake.WaitForWatches(1));
  fake.Put(resources::kPods, Large("a"));
  ASSERT_TRUE(Eventually([&] { return strict.left_out() == 1; }));
  EXPECT_FALSE(strict.current());
  // The count is raised before the collection has the gap.
  EXPECT_TRUE(Eventually([&] { return strict.objects()->size() == 0; }));
  fake.Remove(resources::kPods, "default", "a");
  EXPECT_TRUE(Eventually([&] { return strict.current(); }));
  EXPECT_EQ(strict.left_out(), 0u);
}

TEST(Informer, TenThousandPods) {
  constexpr int kPods = 10'000;
  FakeApiServer fake;
  for (int i = 0; i < kPods; ++i)
    fake.Put(resources::kPods, AnnotatedPod(std::to_string(i), "Pending"));
  RunningInformer running(fake);
  ASSERT_TRUE(running.informer().WaitSynced(seconds(120)));
  EXPECT_EQ(running.informer().objects()->size(), size_t{kPods});
  EXPECT_EQ(fake.Count({.target_part = "limit=500"}), 20u);

  ASSERT_TRUE(fake.WaitForWatches(1));
  for (int i = 0; i < kPods; i += 10) {
    fake.Put(resources::kPods, AnnotatedPod(std::to_string(i), "Running"));
    fake.Remove(resources::kPods, "default", std::to_string(i + 1));
  }
  fake.Put(resources::kPods, AnnotatedPod("last", "Pending"));
  ASSERT_TRUE(
      Eventually([&] { return running.informer().objects()->Find("default/last") != nullptr; }));
  int running_pods = 0;
  running.informer().objects()->ForEach([&](const std::string&, const std::string& phase) {
    running_pods += phase == "Running" ? 1 : 0;
  });
  EXPECT_EQ(running_pods, kPods / 10);
  EXPECT_EQ(running.informer().objects()->size(), size_t{kPods - kPods / 10 + 1});
  EXPECT_EQ(running.informer().counts().lists, 1u);
}

// Pods of which the text of an annotation is kept, and what was complained of.
struct NoteInformer {
  NoteInformer(FakeApiServer& fake, size_t namespace_bytes)
      : transport(MakeTransport(AccessTo(fake.url()), "mindgate-test")),
        client(*transport, sleeper),
        informer(
            client, sleeper, clock,
            {.selection = {.resource = resources::kPods,
                           .fields = {{"metadata", "annotations", "note"}}},
             .project = [](const json::Value& object) -> std::optional<std::string> {
               return json::TextAt(object, {"metadata", "annotations", "note"});
             },
             .failed =
                 [this](const Fault& fault, std::chrono::milliseconds) {
                   const std::lock_guard lock(mutex);
                   faults.push_back(std::string(ReasonName(fault.reason)) + ": " + fault.message);
                 },
             .namespace_bytes = namespace_bytes}),
        thread([this](const std::stop_token& stop) { informer.Run(stop); }) {
    EXPECT_TRUE(informer.WaitSynced(seconds(30)));
  }
  std::vector<std::string> errors() {
    const std::lock_guard lock(mutex);
    return faults;
  }

  std::mutex mutex;
  std::vector<std::string> faults;
  FakeSleeper sleeper;
  FakeClock clock;
  std::unique_ptr<Transport> transport;
  Client client;
  Phases informer;
  std::jthread thread;
};

Json NotedPod(const std::string& ns, const std::string& name, const std::string& note) {
  return {{"metadata", {{"namespace", ns}, {"name", name}, {"annotations", {{"note", note}}}}}};
}

TEST(Informer, ATextThatIsNotUnderstoodIsAbsentAndReportedOnceANamespace) {
  FakeApiServer fake;
  for (const char* name : {"a", "b"}) {
    fake.Put(resources::kPods, NotedPod("default", name, std::string(5'000, 'x')));
  }
  fake.Put(resources::kPods, NotedPod("default", "c", "short"));
  NoteInformer notes(fake, kBytesOfNamespace);
  EXPECT_EQ(ContentOf(*notes.informer.objects()),
            Content({{"default/a", ""}, {"default/b", ""}, {"default/c", "short"}}));
  EXPECT_THAT(notes.errors(),
              ElementsAre("Garbage: Pod default/a cannot be read whole: metadata.annotations.note "
                          "has 5000 bytes, more than 1024"));
  EXPECT_EQ(notes.informer.left_out(), 0u);
}

TEST(Informer, ANamespaceHasABoundOfItsOwn) {
  FakeApiServer fake;
  fake.Put(resources::kNamespaces, {{"metadata", {{"name", "loud"}}}});
  for (const char* name : {"a", "b", "c", "d"}) {
    fake.Put(resources::kPods, NotedPod("loud", name, std::string(1'000, 'x')));
  }
  fake.Put(resources::kPods, NotedPod("default", "quiet", "short"));
  NoteInformer notes(fake, 2'500);
  EXPECT_EQ(notes.informer.objects()->size(), 3u) << "two of loud, and the one of default";
  EXPECT_NE(notes.informer.objects()->Find("default/quiet"), nullptr);
  EXPECT_EQ(notes.informer.left_out(), 2u);
  EXPECT_THAT(notes.errors(),
              ElementsAre("TooLarge: Pod loud/c and what comes after it is left out: the texts of "
                          "its namespace have more than 2500 bytes"));
  // One that goes or becomes smaller makes room for the next that changes.
  fake.Remove(resources::kPods, "loud", "a");
  fake.Put(resources::kPods, NotedPod("loud", "b", "short"));
  fake.Put(resources::kPods, NotedPod("loud", "c", "small"));
  EXPECT_TRUE(Eventually([&] {
    return notes.informer.left_out() == 1 && notes.informer.objects()->Find("loud/c") != nullptr;
  }));
  fake.Put(resources::kPods, NotedPod("loud", "b", std::string(1'000, 'y')));
  EXPECT_TRUE(Eventually([&] {
    const auto objects = notes.informer.objects();
    return objects->Find("loud/b") != nullptr && objects->Find("loud/b")->size() == 1'000;
  })) << "an object is not charged twice";
}

}  // namespace
}  // namespace mindgate::kube::testing
