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

namespace harmonia {

/// Options that say which models are asked, how, and who embeds their answers.
struct TextFlags {
  std::vector<std::string> chats, models;  ///< one address for all models, or one each
  std::string embed = "local", embed_model;
  std::string key_variable, key_file, embed_key_variable, embed_key_file;
  EndpointOptions endpoint;  ///< what all endpoints share
  ChatParameters parameters;
  std::string chat_seed = "1";
  std::string store = "harmonia-answers.sqlite";
  bool no_store = false;
};

/// Adds them.
void add_text_flags(CLI::App& command, TextFlags& flags);

/// Throws Error(usage) for addresses and models that do not fit together, and reads keys: from the
/// environment or a file, and for the endpoints alone.
void complete(TextFlags& flags, const std::stop_token& stop);

/// The endpoint of model number `model`.
EndpointOptions endpoint_of(const TextFlags& flags, std::size_t model);

/// The embedder that was asked for.
std::unique_ptr<Embedder> open_embedder(const TextFlags& flags);

}  // namespace harmonia
