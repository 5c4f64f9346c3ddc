#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "certs/certificate.h"
#include "certs/serving_files.h"

namespace mindgate::certs {

// Certificates begin this long before they are made: clocks of nodes differ.
inline constexpr std::chrono::minutes kClockSkew(5);

inline constexpr std::chrono::days kAuthorityLife(3650);
inline constexpr std::chrono::days kServingLife(365);

struct Identity {
  CertificatePtr certificate;
  KeyPtr key;
};

enum class KeyKind {
  kEcdsaP256,
  kRsa2048,  // for tests of what others bring
};

// A self-signed authority of our own making: ECDSA P-256, may sign leaves only. Its name ends with
// the time it was made ("mindgate-ca@1767225600"), so that people can distinguish two that overlap;
// clients distinguish even namesakes by their key identifiers.
Result<Identity> CreateAuthority(Time now, std::chrono::seconds life = kAuthorityLife);

struct LeafRequest {
  enum class Usage { kServer, kClient };
  Usage usage = Usage::kServer;
  std::string common_name;             // empty: the first DNS name
  std::vector<std::string> dns_names;  // may begin with "*."
  std::vector<std::string> ip_addresses;
  Time now{};
  std::chrono::seconds life = kServingLife;  // cut at the end of the authority
  KeyKind key = KeyKind::kEcdsaP256;
};

// A new key and a certificate for it. Refused: invalid names, a server without names, an authority
// that is not a CA, has expired or lacks its key.
Result<Identity> IssueLeaf(const Identity& authority, const LeafRequest& request);

// "webhook", "webhook.ns", "webhook.ns.svc", "webhook.ns.svc.cluster.local": all names of a
// Service. The API server uses the third.
std::vector<std::string> ServiceNames(const std::string& service, const std::string& ns);

// A self-managed CA with its serving certificate, and how they are replaced without a moment in
// which clients refuse the server:
//
//   1. a new CA is made and published beside the old one (ca.crt, caBundle); the old one signs on
//   2. when every client has had time to learn of it, it signs a new serving certificate
//   3. when every replica has had time to serve that, the old CA is dropped
//
// Pure functions: time and state are passed in, new state comes out; who calls stores it and
// publishes what Bundle gives.

// The files of a folder or keys of a Secret, by name.
using Files = std::map<std::string, std::string>;

inline constexpr const char* kAuthorityKeyFile = "ca.key";
inline constexpr const char* kPreviousKeyFile = "ca-previous.key";

struct State {
  Identity authority;                 // signs, once clients know it; null members: there is none
  CertificatePtr previous;            // still trusted, null: none
  KeyPtr previous_key;                // while it still signs
  std::vector<CertificatePtr> chain;  // what is served, the leaf first
  KeyPtr key;
};

struct RotationPolicy {
  // Exactly the names that the serving certificate must have; when empty, it keeps those that it
  // has.
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  std::chrono::seconds authority_life = kAuthorityLife;
  std::chrono::seconds serving_life = kServingLife;
  // After this, clients know a new CA: a controller that publishes it takes seconds; an hour also
  // covers an API server or a replica that was down.
  std::chrono::seconds publish = std::chrono::hours(1);
  // After this, every replica serves the new certificate: kubelet brings a Secret within minutes.
  std::chrono::seconds overlap = std::chrono::hours(24);
  // What the user wants now, whatever the dates.
  bool force_serving = false;
  bool force_authority = false;
};

enum class Step {
  kReplaceAuthority,    // there is none that works: a new one, which signs at once
  kIntroduceAuthority,  // a new one beside the old, which signs on
  kRenewServing,
  kDropPrevious,
};

std::string_view StepName(Step step);  // for programs: "replace-ca"

struct PlannedStep {
  Step step;
  std::string reason;  // "the serving certificate reached two thirds of its life at ..."
};

struct Plan {
  std::vector<PlannedStep> steps;  // in this order; empty: nothing is due
  Time next{};  // when the next step is due; with steps, now: plan again after them
};

// Reads what is there; nothing at all is a state too. A serving pair that cannot be used is left
// out and so replaced by the plan. A CA without its key, or more than two, is an error: it is not
// one of ours, clients may trust it for other reasons, and a person should decide.
Result<State> ReadState(const Files& files);

Plan MakePlan(const State& state, const RotationPolicy& policy, Time now);

// The state after the plan's steps.
Result<State> Carry(State state, const Plan& plan, const RotationPolicy& policy, Time now);

// All files of the state, keys too; those of kStateFiles that are missing have become needless.
Files WriteState(const State& state);
// In the order in which they are to be written, so that a folder is never without the key of the CA
// that its ca.crt begins with.
inline constexpr std::array<const char*, 5> kStateFiles = {kPreviousKeyFile, kAuthorityKeyFile,
                                                           kAuthorityFile, kKeyFile, kChainFile};

// What clients must trust now, PEM: the contents of ca.crt and caBundle.
std::string Bundle(const State& state);

}  // namespace mindgate::certs
