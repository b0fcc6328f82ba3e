#include "text_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "options.hpp"

namespace harmonia {
namespace {

// What scripts/setup.sh embedder makes.
std::string usual_folder() {
  if (const char* const named = std::getenv("HARMONIA_EMBEDDER")) return named;
  if (const char* const cache = std::getenv("HARMONIA_CACHE")) return fmt::format("{}/embedder", cache);
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"))
    return fmt::format("{}/harmonia/embedder", cache);
  const char* const home = std::getenv("HOME");
  return fmt::format("{}/.cache/harmonia/embedder", home == nullptr ? "/tmp" : home);
}

std::string local_folder(const std::string& embed) {
  if (embed != "local") return embed.substr(std::string("local:").size());
  std::string folder = usual_folder();
  if (std::filesystem::exists(folder)) return folder;
  throw Error(
      ErrorCode::usage,
      fmt::format("no embedder in {}; expected what scripts/setup.sh embedder makes, --embed local:FOLDER, "
                  "or the address of an endpoint",
                  folder));
}

bool is_local(const std::string& embed) { return embed == "local" || embed.starts_with("local:"); }

// The embedder's endpoint, without its key.
EndpointOptions endpoint_of(const EmbedderFlags& flags, const EndpointOptions& shared) {
  EndpointOptions endpoint = shared;
  endpoint.url = flags.address;
  endpoint.model = flags.model;
  endpoint.headers.clear();  // they are the chat's, as the key is
  endpoint.key.clear();
  return endpoint;
}

// Told apart by their addresses where two have the same name.
std::vector<std::string> names_of(const TextFlags& flags) {
  std::vector<std::string> names;
  std::set<std::pair<std::string, std::string>> known;
  for (std::size_t m = 0; m < flags.models.size(); ++m) {
    const std::string& model = flags.models[m];
    const std::string base = endpoint_base(endpoint_of(flags, m));
    if (!known.emplace(base, model).second)
      throw Error(ErrorCode::usage, fmt::format("model {} is named twice; expected different models", model));
    const bool alone = std::ranges::count(flags.models, model) == 1;
    names.push_back(alone ? model : fmt::format("{} at {}", model, base));
  }
  return names;
}

}  // namespace

void add_embedder_flags(CLI::App& app, EmbedderFlags& f) {
  app.add_option("--embed", f.address,
                 "who embeds answers: local (all-MiniLM-L6-v2 in this process, which reads 256 tokens of a "
                 "text), local:FOLDER, or the base address of an endpoint [local]")
      ->type_name("URL|local")
      ->group("Embedder");
  app.add_option("--embed-model", f.model, "name of the endpoint's embedding model")
      ->type_name("NAME")
      ->group("Embedder");
  add_key_flags(app, f.key, "variable that holds the embedder's key", "Embedder");
}

void add_header_flags(CLI::App& app, EndpointOptions& endpoint, const std::string& group) {
  app.add_option("--header", endpoint.headers, "'Name: value' sent with every request; may be repeated")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--ca-file", endpoint.ca_file, "PEM file of the authorities that endpoints are trusted by")
      ->group(group);
}

void add_text_flags(CLI::App& app, TextFlags& f) {
  const auto above = finite_number("a number above 0", [](double x) { return x > 0; });
  const auto not_below = finite_number("a number of at least 0", [](double x) { return x >= 0; });
  app.add_option(
         "--chat", f.chats,
         "base address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1; repeated: one "
         "for each --model")
      ->required()
      ->allow_extra_args(false)
      ->type_name("URL")
      ->group("Models");
  app.add_option("--model", f.models, "name the endpoint knows the model by; repeated: a leaderboard")
      ->required()
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group("Models");
  add_key_flags(app, f.key, "variable of the environment that holds the endpoints' key", "Models");
  add_header_flags(app, f.endpoint, "Models");
  app.add_option("--timeout", f.endpoint.timeout_seconds, "seconds to wait for one answer [120]")
      ->check(above)
      ->group("Models");
  app.add_option("--retries", f.endpoint.retries, "further tries after 429, 5xx or a lost connection [4]")
      ->check(CLI::Range(0, 100))
      ->group("Models");
  app.add_option("--in-flight", f.endpoint.in_flight, "requests at the same time [8]")
      ->check(CLI::Range(1, 1024))
      ->group("Models");
  app.add_option("--temperature", f.parameters.temperature, "of all models [0]")
      ->check(not_below)
      ->group("Models");
  app.add_option("--max-tokens", f.parameters.max_tokens, "of an answer [256]")
      ->check(CLI::Range(1, 1000000))
      ->group("Models");
  app.add_option("--system", f.parameters.system, "system prompt of all models [none]")
      ->type_name("TEXT")
      ->group("Models");
  app.add_option("--chat-seed", f.chat_seed, "seed that is sent with every question, or none [1]")
      ->group("Models");
  add_embedder_flags(app, f.embedder);
  app.add_option("--store", f.store,
                 "SQLite file of answers and embeddings: what is in it is not asked again "
                 "[harmonia-answers.sqlite]")
      ->type_name("FILE")
      ->group("Run");
  app.add_flag("--no-store", f.no_store, "keep no answers")->group("Run")->excludes("--store");
}

void complete(TextFlags& flags, const std::stop_token& stop) {
  if (flags.chats.size() != 1 && flags.chats.size() != flags.models.size()) {
    throw Error(ErrorCode::usage,
                fmt::format("{} and {}; expected one address, or one for each model",
                            counted(flags.chats.size(), "--chat"), counted(flags.models.size(), "--model")));
  }
  flags.names = names_of(flags);
  check_embedder(flags.embedder);
  if (flags.chat_seed == "none") {
    flags.parameters.seed.reset();
  } else {
    std::uint64_t seed = 0;
    const char* const end = flags.chat_seed.data() + flags.chat_seed.size();
    const auto [last, error] = std::from_chars(flags.chat_seed.data(), end, seed);
    if (error != std::errc{} || last != end || seed > 0x7fffffff)
      throw Error(ErrorCode::usage, fmt::format("--chat-seed {}; expected none or a whole number below 2^31",
                                                in_quotes(flags.chat_seed)));
    flags.parameters.seed = seed;
  }
  flags.endpoint.stop = stop;
  flags.endpoint.key = read_key(flags.key);
}

EndpointOptions endpoint_of(const TextFlags& flags, std::size_t model) {
  EndpointOptions endpoint = flags.endpoint;
  endpoint.url = flags.chats[flags.chats.size() == 1 ? 0 : model];
  endpoint.model = flags.models[model];
  return endpoint;
}

void check_embedder(const EmbedderFlags& flags) {
  if (!is_local(flags.address)) {
    endpoint_base(endpoint_of(flags, {}));
  } else if (!flags.model.empty()) {
    throw Error(ErrorCode::usage, fmt::format("--embed-model {} with --embed {}; expected --embed URL",
                                              in_quotes(flags.model), flags.address));
  }
}

std::unique_ptr<Embedder> open_embedder(const EmbedderFlags& flags, const EndpointOptions& shared) {
  check_embedder(flags);
  if (is_local(flags.address)) return open_local_embedder(local_folder(flags.address));
  EndpointOptions endpoint = endpoint_of(flags, shared);
  endpoint.key = read_key(flags.key);
  return open_embedding_endpoint(endpoint);
}

}  // namespace harmonia
