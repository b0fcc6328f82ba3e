#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harmonia/text/answer_store.hpp"
#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"
#include "harmonia/text/endpoint.hpp"
#include "key_flags.hpp"

namespace harmonia {

/// Options that say who embeds answers.
struct EmbedderFlags {
  std::string address = "local";  ///< local, local:FOLDER, or of an endpoint
  std::string model;              ///< of the endpoint
  KeyFlags key{"--embed-key", {}, {}};
};

/// Adds them.
void add_embedder_flags(CLI::App& command, EmbedderFlags& flags);

/// Adds what every endpoint of a command is sent, in the group of options.
void add_header_flags(CLI::App& command, EndpointOptions& endpoint, const std::string& group);

/// Options that say which models are asked, how, and who embeds their answers.
struct TextFlags {
  std::vector<std::string> chats, models;  ///< one address for all models, or one each
  std::vector<std::string> names;          ///< of the models in results; by complete()
  EmbedderFlags embedder;
  KeyFlags key{"--key", {}, {}};
  EndpointOptions endpoint;  ///< what all endpoints share
  ChatParameters parameters;
  std::string chat_seed = "1";
  std::string store = "harmonia-answers.sqlite";
  bool no_store = false;
};

/// Adds them.
void add_text_flags(CLI::App& command, TextFlags& flags);

/// Throws Error(usage) for addresses that are none, and for addresses and models that do not fit together;
/// reads keys, from the environment or a file, for the endpoints alone; and names the models: by their
/// address too where two have the same name.
void complete(TextFlags& flags, const std::stop_token& stop);

/// The endpoint of model number `model`.
EndpointOptions endpoint_of(const TextFlags& flags, std::size_t model);

/// Throws Error(usage) for an address that is none, and for a model without an endpoint.
void check_embedder(const EmbedderFlags& flags);

/// The embedder that was asked for; an endpoint has the time-outs, retries and authorities of `shared`.
std::unique_ptr<Embedder> open_embedder(const EmbedderFlags& flags, const EndpointOptions& shared);

}  // namespace harmonia
