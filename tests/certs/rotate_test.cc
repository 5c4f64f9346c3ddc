#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "certs/authority.h"
#include "certs/certificate.h"
#include "support/certificates.h"

namespace mindgate::certs {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kDay;
using testing::kNow;
using testing::kService;

RotationPolicy Policy() {
  RotationPolicy policy;
  policy.dns_names = {kService};
  return policy;
}

// A folder of certificates and its history.
class Rotated {
 public:
  explicit Rotated(RotationPolicy with = Policy()) : policy(std::move(with)) {}

  // What was done at `now`, "step: reason" each.
  std::vector<std::string> At(Time now) {
    // Through the texts, as a folder or a Secret keeps it.
    auto state = ReadState(files);
    if (!state) return {"error: " + state.error().message()};
    const Plan plan = MakePlan(*state, policy, now);
    next = plan.next;
    auto carried = Carry(*std::move(state), plan, policy, now);
    if (!carried) return {"error: " + carried.error().message()};
    files = WriteState(*carried);
    std::vector<std::string> done;
    for (const PlannedStep& step : plan.steps) {
      constexpr const char* kNames[] = {"replace CA", "introduce CA", "renew", "drop"};
      done.push_back(std::string(kNames[static_cast<int>(step.step)]) + ": " + step.reason);
    }
    return done;
  }

  ServingFiles Serving() const {
    return {files.at("tls.crt"), files.at("tls.key"), files.at("ca.crt")};
  }
  size_t Authorities() const { return ReadCertificates(files.at("ca.crt"))->size(); }
  std::string Issuer() const {
    return Describe(ReadCertificates(files.at("tls.crt"))->front().get()).issuer;
  }

  RotationPolicy policy;
  Files files;
  Time next{};
};

TEST(Rotation, BeginsFromNothing) {
  Rotated rotated;
  EXPECT_THAT(rotated.At(kNow),
              ElementsAre("replace CA: there is no CA", "renew: the new CA must sign it"));
  EXPECT_THAT(CheckServing(rotated.Serving(), {kNow, {kService}}), IsEmpty());
  EXPECT_EQ(rotated.files.size(), 4u);
  EXPECT_THAT(rotated.At(kNow), IsEmpty()) << "then nothing is due";
  EXPECT_EQ(FormatTime(rotated.next), "2026-09-01T08:00:00Z") << "two thirds of a year";
}

TEST(Rotation, RenewsTheServingCertificateAtTwoThirdsOfItsLife) {
  Rotated rotated;
  rotated.At(kNow);
  rotated.At(kNow);
  const Time due = rotated.next;
  EXPECT_THAT(rotated.At(due - 1s), IsEmpty());
  const std::string bundle = rotated.files.at("ca.crt");
  EXPECT_THAT(rotated.At(due), ElementsAre("renew: the serving certificate reached two thirds of "
                                           "its life at 2026-09-01T08:00:00Z"));
  EXPECT_EQ(rotated.files.at("ca.crt"), bundle);
  EXPECT_THAT(rotated.At(due), IsEmpty());
}

// The order that keeps every client: publish, sign, drop.
TEST(Rotation, ReplacesItsAuthorityInThreeSteps) {
  Rotated rotated;
  rotated.At(kNow);
  const std::string old_pair = rotated.files.at("tls.crt");
  const std::string old_authority = rotated.files.at("ca.crt");
  rotated.policy.force_authority = true;
  EXPECT_THAT(rotated.At(kNow + kDay), ElementsAre("introduce CA: requested"));
  EXPECT_THAT(rotated.At(kNow + kDay), IsEmpty()) << "one replacement at a time";
  rotated.policy.force_authority = false;
  EXPECT_EQ(rotated.Authorities(), 2u);
  EXPECT_TRUE(rotated.files.at("ca.crt").ends_with(old_authority)) << "the new one first";
  EXPECT_EQ(rotated.files.at("tls.crt"), old_pair) << "nobody knows the new one yet";

  rotated.At(kNow + kDay);
  EXPECT_EQ(rotated.next, kNow + kDay + 1h);
  EXPECT_THAT(rotated.At(rotated.next - 1s), IsEmpty());
  EXPECT_THAT(rotated.At(kNow + kDay + 1h),
              ElementsAre("renew: clients have had the new CA since 2026-01-02T00:00:00Z"));
  EXPECT_EQ(rotated.Authorities(), 2u) << "replicas still serve the old one's";
  EXPECT_EQ(rotated.Issuer(), "CN=mindgate-ca@1767312000");
  EXPECT_EQ(rotated.files.count("ca-previous.key"), 0u) << "the old one has signed its last";

  EXPECT_THAT(rotated.At(kNow + kDay + 1h), IsEmpty());
  EXPECT_EQ(rotated.next, kNow + 2 * kDay + 1h);
  EXPECT_THAT(rotated.At(rotated.next - 1s), IsEmpty());
  EXPECT_THAT(rotated.At(kNow + 2 * kDay + 1h),
              ElementsAre("drop: a certificate of the new CA has been served since "
                          "2026-01-02T01:00:00Z"));
  EXPECT_EQ(rotated.Authorities(), 1u);
  EXPECT_EQ(rotated.files.count("ca-previous.key"), 0u);
}

TEST(Rotation, AServingCertificateThatIsDueMeanwhileIsSignedByTheOldAuthority) {
  Rotated rotated;
  rotated.At(kNow);
  rotated.policy.force_authority = rotated.policy.force_serving = true;
  EXPECT_THAT(rotated.At(kNow + kDay), ElementsAre("introduce CA: requested", "renew: requested"));
  EXPECT_EQ(rotated.Issuer(), "CN=mindgate-ca@1767225600");
  rotated.policy.force_authority = rotated.policy.force_serving = false;
  rotated.At(kNow + kDay + 1h);
  EXPECT_EQ(rotated.Issuer(), "CN=mindgate-ca@1767312000");
}

TEST(Rotation, NamesThatChangeNeedANewCertificate) {
  Rotated rotated;
  rotated.At(kNow);
  rotated.policy.ip_addresses = {"fd00:0::1"};
  EXPECT_THAT(rotated.At(kNow),
              ElementsAre("renew: the names that it must be valid for have changed"));
  rotated.policy.ip_addresses = {"fd00::1"};
  EXPECT_THAT(rotated.At(kNow), IsEmpty()) << "another spelling is no change";
  rotated.policy.ip_addresses.clear();
  rotated.policy.dns_names.clear();
  rotated.policy.force_serving = true;
  rotated.At(kNow);
  const Description leaf = Describe(ReadCertificates(rotated.files.at("tls.crt"))->front().get());
  EXPECT_THAT(leaf.dns_names, ElementsAre(kService)) << "without names: as it was";
  EXPECT_THAT(leaf.ip_addresses, ElementsAre("fd00::1"));
}

struct Damage {
  const char* name;
  std::function<void(Files&)> make;
  std::vector<std::string> want;
};

TEST(Rotation, RepairsAServingPairThatCannotServe) {
  Rotated other;
  other.At(kNow);
  const Damage table[] = {
      {"no key",
       [](Files& files) { files.erase("tls.key"); },
       {"renew: there is no serving certificate"}},
      {"half a certificate",
       [](Files& files) { files["tls.crt"].resize(200); },
       {"renew: there is no serving certificate"}},
      {"torn",
       [&](Files& files) { files["tls.key"] = other.files["tls.key"]; },
       {"renew: tls.key: is not the key of the certificate in tls.crt "
        "(\"CN=webhook.mindgate-system.svc\") (write certificate and key of one pair, both at "
        "once)"}},
      {"of another authority",
       [&](Files& files) {
         files["tls.crt"] = other.files["tls.crt"];
         files["tls.key"] = other.files["tls.key"];
       },
       {"renew: ca.crt: none of its CAs vouches for the certificate in tls.crt: unable to "
        "get local issuer certificate (write the certificate of the CA that signed tls.crt into "
        "ca.crt and caBundle)"}},
  };
  for (const Damage& damage : table) {
    SCOPED_TRACE(damage.name);
    Rotated rotated;
    rotated.At(kNow);
    damage.make(rotated.files);
    EXPECT_EQ(rotated.At(kNow), damage.want);
    EXPECT_THAT(CheckServing(rotated.Serving(), {kNow, {kService}}), IsEmpty());
    EXPECT_THAT(rotated.At(kNow), IsEmpty());
  }
}

// A power cut while the files of a folder are replaced, after each of them.
TEST(Rotation, GoesOnWhereItWasCutShort) {
  for (size_t written = 0; written <= kStateFiles.size(); ++written) {
    SCOPED_TRACE(written);
    Rotated rotated;
    rotated.At(kNow);
    const Files before = rotated.files;
    rotated.policy.force_authority = rotated.policy.force_serving = true;
    rotated.At(kNow + kDay);
    Files torn = before;
    for (size_t i = 0; i < written; ++i) {
      torn[kStateFiles[i]] = rotated.files.at(kStateFiles[i]);
    }
    rotated.files = std::move(torn);
    rotated.policy.force_authority = rotated.policy.force_serving = false;
    for (Time now = kNow + kDay; now < kNow + 4 * kDay; now += 1h) {
      for (const std::string& step : rotated.At(now))
        EXPECT_FALSE(step.starts_with("error")) << step;
      EXPECT_THAT(CheckServing(rotated.Serving(), {now, {kService}}), IsEmpty());
    }
    EXPECT_EQ(rotated.Authorities(), 1u);
    EXPECT_EQ(rotated.files.count("ca-previous.key"), 0u);
  }
}

TEST(Rotation, LeavesAnAuthorityAloneThatIsNotItsOwn) {
  Rotated other;
  other.At(kNow);
  const std::string stranger = other.files["ca.crt"];
  const Damage table[] = {
      {"no key",
       [](Files& files) { files.erase("ca.key"); },
       {"error: there is ca.crt but no ca.key: another CA issued these certificates, and only it "
        "can renew them"}},
      {"damaged key",
       [](Files& files) { files["ca.key"].resize(80); },
       {"error: while reading ca.key: the private key is damaged or cut off"}},
      {"damaged bundle",
       [](Files& files) { files["ca.crt"].resize(200); },
       {"error: while reading ca.crt: certificate 1 is cut off or is not PEM"}},
      {"no PEM",
       [](Files& files) { files["ca.crt"] = "rubbish"; },
       {"error: ca.crt holds no certificate as PEM"}},
      {"key of another",
       [&](Files& files) { files["ca.key"] = other.files["ca.key"]; },
       {"error: ca.key is not the key of the first certificate in ca.crt "
        "(\"CN=mindgate-ca@1767225600\")"}},
      {"a bundle of many",
       [&](Files& files) { files["ca.crt"] += stranger + stranger; },
       {"error: ca.crt holds 3 certificates; mindgate writes at most two, its CA and the previous "
        "one"}},
  };
  for (const Damage& damage : table) {
    SCOPED_TRACE(damage.name);
    Rotated rotated;
    rotated.At(kNow);
    damage.make(rotated.files);
    const Files before = rotated.files;
    EXPECT_EQ(rotated.At(kNow), damage.want);
    EXPECT_EQ(rotated.files, before);
  }
}

TEST(Rotation, BeginsAgainWhenEverythingHasExpired) {
  Rotated rotated;
  rotated.At(kNow);
  EXPECT_THAT(rotated.At(kNow + 4000 * kDay),
              ElementsAre("replace CA: the CA expired at 2035-12-30T00:00:00Z",
                          "renew: the new CA must sign it"));
  EXPECT_EQ(rotated.Authorities(), 1u);
  EXPECT_THAT(CheckServing(rotated.Serving(), {kNow + 4000 * kDay, {kService}}), IsEmpty());
}

// Clients that learn of a bundle an hour late and replicas that serve a new pair a day late agree
// at every moment of two replacements of the CA.
TEST(Rotation, NoClientEverRefusesAReplica) {
  RotationPolicy policy = Policy();
  policy.authority_life = 400 * kDay;
  policy.serving_life = 60 * kDay;
  policy.publish = 1h;
  policy.overlap = 24h;
  Rotated rotated(policy);
  rotated.At(kNow);

  struct Version {
    Time since;
    ServingFiles files;
  };
  std::deque<Version> history = {{kNow, rotated.Serving()}};
  const auto at = [&history](Time time) -> const ServingFiles& {
    size_t i = history.size() - 1;
    while (i > 0 && history[i].since > time) --i;
    return history[i].files;
  };
  int authorities = 0;
  int pairs = 0;
  Time now = kNow;
  while (now < kNow + 600 * kDay) {
    const auto done = rotated.At(now);
    if (!done.empty()) {
      authorities += done.front().starts_with("introduce");
      pairs += done.back().starts_with("renew");
      history.push_back({now, rotated.Serving()});
      if (history.size() > 8) history.pop_front();
    }
    // Later, all are up to date.
    const bool recent = now - history.back().since <= 25h;
    for (const auto client_is_late : {0s, 3599s}) {
      for (const auto replica_is_late : {0s, 86399s}) {
        if (!recent && (client_is_late > 0s || replica_is_late > 0s)) continue;
        ServingFiles met = at(now - replica_is_late);
        met.authority = at(now - client_is_late).authority;
        const Problems problems = CheckServing(met, {now, {kService}});
        ASSERT_THAT(problems, IsEmpty()) << FormatTime(now) << ": " << Render(problems);
      }
    }
    now = done.empty() ? std::min(rotated.next, now + (recent ? 2h : 48h)) : now + 15min;
  }
  EXPECT_EQ(authorities, 2);  // every 267 days or so
  EXPECT_GT(pairs, 14);       // every 40 days
}

}  // namespace
}  // namespace mindgate::certs
