// Lists of objects of any size: how they are cut into pages, and what is too large for that.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "kube/answers.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "kube/fake_transport.h"

namespace mindgate::kube::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kKb = 1000;

Json ConfigMap(const std::string& name, size_t bytes) {
  return {{"metadata", {{"name", name}}}, {"data", {{"x", std::string(bytes, 'x')}}}};
}

// Two digits, so that their order is that of the numbers.
std::string Numbered(int number) {
  return {static_cast<char>('0' + number / 10 % 10), static_cast<char>('0' + number % 10)};
}

// What a list gave: names, and "-name" of what was left out.
struct Read {
  std::vector<std::string> names;
  std::vector<std::string> faults{};  // of those left out
  std::optional<Fault> fault{};

  static Read Of(Client& client, int64_t limit = 0) {
    Read read;
    const auto name = [](const json::Value& item) { return NameOf(json::TreeOf(item)); };
    const auto answer = client.ListAll(
        resources::kConfigMaps, "", {.limit = limit}, nullptr,
        {.started = [&] { read.names.clear(); },
         .item = [&](const json::Value& item) { read.names.push_back(name(item)); },
         .left_out =
             [&](const json::Value& item, const Fault& fault) {
               read.names.push_back("-" + name(item));
               read.faults.push_back(std::string(ReasonName(fault.reason)) + ": " + fault.message);
             }});
    if (!answer) read.fault = answer.error();
    return read;
  }
};

struct ListsTest : ::testing::Test {
  FakeApiServer fake;
  FakeSleeper sleeper;
  std::unique_ptr<Transport> transport = MakeTransport(AccessTo(fake.url()), "mindgate-test");
  Client client{*transport, sleeper, {.page_bytes = 80 * kKb, .object_bytes = 200 * kKb}};

  void Put(const std::string& name, size_t bytes) {
    fake.Put(resources::kConfigMaps, ConfigMap(name, bytes));
  }
  // What each request asked for: "50", or "1 metadata".
  std::vector<std::string> Limits() const {
    std::vector<std::string> limits;
    for (const HttpRequest& request : fake.Requests()) {
      const bool metadata =
          request.headers.at("accept").find("PartialObjectMetadataList") != std::string::npos;
      limits.push_back(request.query.at("limit") + (metadata ? " metadata" : ""));
    }
    return limits;
  }
};

TEST_F(ListsTest, PagesHalveUntilTheyFit) {
  std::vector<std::string> names;
  for (int i = 0; i < 70; ++i) {
    names.push_back(Numbered(i));
    Put(names.back(), 10 * kKb);
  }
  const Read read = Read::Of(client);
  EXPECT_EQ(read.names, names);
  std::vector<std::string> limits = {"50", "25", "12"};
  limits.insert(limits.end(), 12, "6");  // a page of 6 is too full for a larger one after it
  EXPECT_EQ(Limits(), limits);
}

TEST_F(ListsTest, PagesGrowWhileTheyAreFarFromFull) {
  for (int i = 0; i < 70; ++i) Put(Numbered(i), 2 * kKb);
  EXPECT_EQ(Read::Of(client, 1).names.size(), 70u);
  // 8 take less than a quarter of 80 KB, 16 do not.
  EXPECT_THAT(Limits(), ElementsAre("1", "2", "4", "8", "16", "16", "16", "16"));
}

TEST_F(ListsTest, NoPageGrowsBeyondTheMost) {
  PageSize size(PageSize::kFirst);
  std::vector<int64_t> objects;
  for (int i = 0; i < 6; ++i) {
    objects.push_back(size.objects());
    size.Came(1, 1000);
  }
  EXPECT_THAT(objects, ElementsAre(50, 100, 200, 400, 500, 500));
}

TEST_F(ListsTest, AnObjectLargerThanAPageComesAlone) {
  for (const char* name : {"a1", "a2", "a3", "c1", "c2", "c3"}) Put(name, 10);
  Put("b", 100 * kKb);
  const Read read = Read::Of(client, 4);
  EXPECT_THAT(read.names, ElementsAre("a1", "a2", "a3", "b", "c1", "c2", "c3"));
  EXPECT_THAT(Limits(), ElementsAre("4", "2", "4", "2", "1", "2", "1", "1", "2"));
}

TEST_F(ListsTest, AnObjectThatIsTooLargeIsNamedAndLeftOut) {
  for (const char* name : {"a1", "a2", "c1", "c2"}) Put(name, 10);
  Put("b", 300 * kKb);
  const Read read = Read::Of(client, 2);
  EXPECT_THAT(read.names, ElementsAre("a1", "a2", "-b", "c1", "c2"));
  EXPECT_THAT(read.faults,
              ElementsAre("TooLarge: GET /api/v1/configmaps: ConfigMap default/b is larger than "
                          "200000 bytes"));
  EXPECT_FALSE(read.fault);
  EXPECT_THAT(Limits(), ElementsAre("2", "4", "2", "1", "1 metadata", "2"));
}

TEST_F(ListsTest, WithoutLeavingOutWhatIsTooLargeIsReported) {
  for (const char* name : {"a", "c"}) Put(name, 10);
  Put("b", 300 * kKb);
  const Fault fault = FaultIn(client.ListObjects(resources::kConfigMaps, ""));
  EXPECT_EQ(fault.reason, Reason::kTooLarge);
  EXPECT_EQ(fault.message,
            "GET /api/v1/configmaps: ConfigMap default/b is larger than 200000 bytes");
}

TEST_F(ListsTest, ATokenThatExpiresStartsOverWithPagesThatFit) {
  for (int i = 0; i < 14; ++i) Put(Numbered(i), 10 * kKb);
  const auto gate = fake.Hold({.target_part = "continue="});
  Read read;
  {
    const std::jthread thread([&] { read = Read::Of(client, 12); });
    ASSERT_TRUE(gate->WaitUntilHeld());
    fake.Remove(resources::kConfigMaps, "default", "00");
    fake.Compact();
    gate->Release();
  }
  EXPECT_THAT(Limits(), ElementsAre("12", "6", "6", "6", "6", "6"));
  EXPECT_EQ(read.names.size(), 13u);
  EXPECT_EQ(read.names.front(), "01");
  EXPECT_FALSE(read.fault);
}

TEST_F(ListsTest, ATokenThatExpiresTwiceIsAFault) {
  for (int i = 0; i < 4; ++i) Put(Numbered(i), 10);
  fake.AnswerNext(2, {.target_part = "continue="}, StatusAnswer(410, "Expired", "too old"));
  const Read read = Read::Of(client, 1);
  ASSERT_TRUE(read.fault);
  EXPECT_EQ(read.fault->reason, Reason::kExpired);
}

// Some aggregated API servers know no limit.
TEST(Lists, AServerWithoutPagesIsAFault) {
  const std::string two = R"({"kind":"PartialObjectMetadataList","items":[{},{}],"metadata":{}})";
  FakeTransport transport([&](const HttpCall& call, const std::stop_token&) -> Answer<HttpAnswer> {
    if (call.accept != "application/json") return Ok(two);
    return Failed(Reason::kTooLarge, "the answer is larger than the limit");
  });
  FakeSleeper sleeper;
  Client client(transport, sleeper);
  const Read read = Read::Of(client, 2);
  ASSERT_TRUE(read.fault);
  EXPECT_EQ(read.fault->reason, Reason::kTooLarge);
  EXPECT_EQ(read.fault->message, "the answer is larger than the limit");
  EXPECT_THAT(read.names, IsEmpty());
  std::vector<size_t> limits;
  for (const HttpCall& call : transport.calls()) limits.push_back(call.answer_bytes);
  const ClientOptions options;
  EXPECT_THAT(limits, ElementsAre(options.page_bytes, options.object_bytes, options.object_bytes));
}

TEST(Lists, AFaultOfTheMetadataIsReported) {
  FakeTransport transport([](const HttpCall& call, const std::stop_token&) -> Answer<HttpAnswer> {
    if (call.accept != "application/json") return Status(410, "Expired");
    return Failed(Reason::kTooLarge, "the answer is larger than the limit");
  });
  FakeSleeper sleeper;
  Client client(transport, sleeper);
  const Read read = Read::Of(client, 1);
  ASSERT_TRUE(read.fault);
  EXPECT_EQ(read.fault->reason, Reason::kExpired);
}

TEST(Lists, AnItemThatIsNoJsonIsAFault) {
  FakeTransport transport([](const HttpCall&, const std::stop_token&) {
    return Ok(R"({"kind":"ConfigMapList","items":[{"metadata":{"name":"a"}},{"b":}]})");
  });
  FakeSleeper sleeper;
  Client client(transport, sleeper);
  const Read read = Read::Of(client);
  ASSERT_TRUE(read.fault);
  EXPECT_EQ(read.fault->reason, Reason::kGarbage);
  EXPECT_THAT(read.fault->message, ::testing::HasSubstr(R"("{\"b\":}")"));
}

}  // namespace
}  // namespace mindgate::kube::testing
