#include "schemas/request.h"

#include <gmock/gmock.h>

#include <deque>

#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using json::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Known : ::testing::Test {
  // An object of apps/v1, with a mark by which it is known again.
  const Value& Add(std::string_view kind, std::string_view ns, std::string_view name,
                   const void* source = nullptr) {
    json::Json metadata = {{"name", std::string(name)}};
    if (!ns.empty()) metadata["namespace"] = std::string(ns);
    documents_.emplace_back(
        json::Json{{"apiVersion", "apps/v1"}, {"kind", std::string(kind)}, {"metadata", metadata}});
    known_.push_back({&documents_.back().root(), source});
    return documents_.back().root();
  }
  KnownObjects All() const { return {known_, "default"}; }

 private:
  std::deque<json::Document> documents_;
  std::vector<KnownObjects::Known> known_;
};

TEST_F(Known, FindsByGroupKindNamespaceAndName) {
  const Value& object = Add("Deployment", "llm", "a");
  const KnownObjects all = All();
  const KnownObjects::Lookup lookup(all, nullptr);
  EXPECT_EQ(lookup.Find("apps", "Deployment", "llm", "a"), &object);
  EXPECT_EQ(lookup.Find("", "Deployment", "llm", "a"), nullptr);
  EXPECT_EQ(lookup.Find("apps", "StatefulSet", "llm", "a"), nullptr);
  EXPECT_EQ(lookup.Find("apps", "Deployment", "default", "a"), nullptr);
  EXPECT_EQ(lookup.Find("apps", "Deployment", "llm", "b"), nullptr);
  EXPECT_FALSE(lookup.IsComplete("apps", "Deployment"));
}

TEST_F(Known, AnObjectWithoutNamespaceIsInTheDefaultOneOrInNone) {
  const Value& object = Add("Deployment", "", "a");
  const KnownObjects all = All();
  const KnownObjects::Lookup lookup(all, nullptr);
  EXPECT_EQ(lookup.Find("apps", "Deployment", "default", "a"), &object);
  EXPECT_EQ(lookup.Find("apps", "Deployment", "", "a"), &object);
  EXPECT_EQ(lookup.Find("apps", "Deployment", "llm", "a"), nullptr);
}

TEST_F(Known, OfSeveralTheNearOneElseTheLast) {
  const int here = 0;
  const int there = 0;
  const Value& first = Add("Deployment", "llm", "a", &here);
  const Value& last = Add("Deployment", "llm", "a", &there);
  const KnownObjects all = All();
  EXPECT_EQ(KnownObjects::Lookup(all, &here).Find("apps", "Deployment", "llm", "a"), &first);
  EXPECT_EQ(KnownObjects::Lookup(all, &there).Find("apps", "Deployment", "llm", "a"), &last);
  EXPECT_EQ(KnownObjects::Lookup(all, nullptr).Find("apps", "Deployment", "llm", "a"), &last);
}

TEST_F(Known, VisitsInNameOrder) {
  const Value& b = Add("Deployment", "llm", "b");
  const Value& a = Add("Deployment", "llm", "a");
  const Value& elsewhere = Add("Deployment", "other", "a");
  Add("StatefulSet", "llm", "a");
  const KnownObjects all = All();
  const KnownObjects::Lookup lookup(all, nullptr);
  std::vector<const Value*> seen;
  const auto visit = [&seen](const Value& object) { seen.push_back(&object); };
  lookup.ForEach("apps", "Deployment", "llm", visit);
  EXPECT_THAT(seen, ElementsAre(&a, &b));
  seen.clear();
  lookup.ForEachNamed("apps", "Deployment", "a", visit);
  EXPECT_THAT(seen, ElementsAre(&a, &elsewhere));
  seen.clear();
  lookup.ForEachNamed("apps", "Deployment", "c", visit);
  EXPECT_THAT(seen, IsEmpty());
}

}  // namespace
}  // namespace mindgate::schemas
