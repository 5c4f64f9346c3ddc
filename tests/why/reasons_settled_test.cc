#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "why/chat.h"
#include "why/reasons.h"

// What runs as a whole or has ended, whatever failed before.
namespace mindgate::why {
namespace {

using testing::Chat;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::IdsOf;
using ::testing::Not;
using testing::Running;
using testing::RunningChat;

PodFacts WithPhase(const std::string& name, const std::string& phase) {
  PodFacts pod = Running(name);
  pod.phase = phase;
  pod.ready = false;
  pod.containers = {{.name = "main",
                     .state = "terminated",
                     .exit_code = phase == "Failed" ? 137 : 0,
                     .ended_because = phase == "Failed" ? "OOMKilled" : "Completed",
                     .restarts = 1}};
  return pod;
}

// Of a node that was shut down, an eviction, or a first try: its object stays for long.
TEST(ReasonsSettled, WhatRunsWholeIsNotAboutPodsThatFailedBefore) {
  Facts facts = RunningChat();
  facts.pods.push_back(WithPhase("chat-2", "Failed"));
  facts.groups[0].retries_left = 0;
  EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-wrong"));
  facts.pods[0].ready = false;
  EXPECT_THAT(IdsOf(facts), ElementsAre("retries-used-up", "out-of-memory", "pod-failed"));
  facts.pods.erase(facts.pods.begin());
  EXPECT_THAT(IdsOf(facts), Contains("pod-failed")) << "it is not replaced yet";
}

TEST(ReasonsSettled, WhatHasCompletedIsNotAboutPodsThatFailedBefore) {
  Facts facts = Chat();
  facts.kind = "Job";
  facts.pods = {WithPhase("chat-0", "Failed"), WithPhase("chat-1", "Succeeded")};
  facts.groups[0].retries_left = 0;
  facts.ended = true;
  EXPECT_THAT(IdsOf(facts), ElementsAre("done"));
  facts.ended = false;
  EXPECT_THAT(IdsOf(facts), Contains("pod-failed"));
}

TEST(ReasonsSettled, PodsOfAJobThatSucceededAreThere) {
  Facts facts = RunningChat();
  facts.kind = "Job";
  facts.wanted = 4;
  facts.succeeded = 0;
  facts.pods = {Running("chat-0")};
  for (const char* name : {"chat-1", "chat-2", "chat-3"}) {
    facts.pods.push_back(WithPhase(name, "Succeeded"));
  }
  EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-wrong"));
  facts.pods.resize(2);
  EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-found"));
  facts.succeeded = 3;
  EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-wrong")) << "two were deleted";
  facts.pods.erase(facts.pods.begin());
  EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-found")) << "one is to come";
  facts.succeeded = 4;
  EXPECT_THAT(IdsOf(facts), ElementsAre("done"));
}

// A Deployment or a StatefulSet replaces them.
TEST(ReasonsSettled, OtherPodsThatSucceededAreNotThere) {
  Facts facts = RunningChat();
  facts.pods[1] = WithPhase("chat-1", "Succeeded");
  EXPECT_THAT(IdsOf(facts), Not(Contains("nothing-wrong")));
  facts.wanted.reset();
  EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-wrong")) << "of a PodGroup, that may be a job's";
}

}  // namespace
}  // namespace mindgate::why
