# Writes OUTPUT, the C++ file that holds the templates FILES (names under DIRECTORY, divided by "|") and their digest.
# Names and texts alone go in: no path, no time.
string(REPLACE "|" ";" FILES "${FILES}")
set(rows "")
set(digested "")
foreach(file IN LISTS FILES)
  file(READ "${DIRECTORY}/${file}" text)
  set(name "eider/${file}")
  string(APPEND rows "    {\"${name}\", R\"EIDER(${text})EIDER\"},\n")
  # Length-prefixed, so that no two sets of files give the same bytes.
  string(LENGTH "${name}" name_length)
  string(LENGTH "${text}" text_length)
  string(APPEND digested "${name_length}:${name}${text_length}:${text}")
endforeach()
string(SHA256 digest "${digested}")
list(LENGTH FILES count)
file(WRITE "${OUTPUT}" "#include \"templates/EmbeddedTemplates.h\"

namespace eider {
namespace {
constexpr EmbeddedTemplate templates[] = {
${rows}};
} // namespace

std::span<const EmbeddedTemplate> embeddedTemplates() { return templates; }
const char *templatesDigest() { return \"${digest}\"; }
} // namespace eider
")
