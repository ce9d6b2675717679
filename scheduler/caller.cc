#include "scheduler/caller.h"

#include <absl/status/status.h>

#include <optional>

#include "core/check.h"
#include "proto/version.h"

namespace rung {
namespace {

/// Takes as long for any `candidate` of one length: the time says nothing of the secret.
bool SameSecret(std::string_view secret, std::string_view candidate) {
  if (secret.empty()) return false;
  size_t difference = secret.size() ^ candidate.size();
  for (size_t i = 0; i < candidate.size(); ++i) {
    const auto known = static_cast<unsigned char>(secret[i % secret.size()]);
    const auto given = static_cast<unsigned char>(candidate[i]);
    difference |= static_cast<size_t>(known ^ given);
  }
  return difference == 0;
}

std::optional<std::string_view> Metadata(const grpc::CallbackServerContext& context,
                                         const char* key) {
  const auto found = context.client_metadata().find(key);
  if (found == context.client_metadata().end()) return std::nullopt;
  return std::string_view(found->second.data(), found->second.size());
}

}  // namespace

absl::StatusOr<std::string> CallerCheck::NameOf(grpc::CallbackServerContext& context) const {
  context.AddInitialMetadata(kVersionMetadata, RUNG_VERSION);
  absl::StatusOr<std::string> name =
      NameOf(context.peer(), Metadata(context, "authorization").value_or(""));
  if (!name.ok()) return name.status();
  if (const auto version = Metadata(context, kVersionMetadata)) {
    RUNG_RETURN_IF_ERROR(CheckVersions({"the client", *version}, {"the service", RUNG_VERSION}));
  }
  return name;
}

absl::StatusOr<std::string> CallerCheck::NameOf(std::string_view peer,
                                                std::string_view authorization) const {
  if (peer.starts_with("unix:")) return login_;
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) {
    return absl::UnauthenticatedError(
        "calls over TCP need a token: give the scheduler's token file with --token-file, or send "
        "the metadata `authorization: Bearer SECRET` with a secret of that file");
  }
  authorization.remove_prefix(kScheme.size());
  const Token* known = nullptr;
  for (const Token& token : tokens_) {
    if (SameSecret(token.secret, authorization)) known = &token;
  }
  if (known == nullptr) {
    return absl::UnauthenticatedError(
        "the token is not in the scheduler's token file: copy the file from $RUNG_HOME/token of "
        "the scheduler's machine");
  }
  return known->name;
}

}  // namespace rung
