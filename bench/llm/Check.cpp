//===- bench/llm/Check.cpp - A decode layer beside plain loops ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/llm/Check.h"

#include "bench/llm/Layer.h"
#include "bench/measure/Values.h"
#include "tools/safetensors/Safetensors.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace eider::llm {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

/// MiniLM's dims; and with a third of its heads of keys, which three query heads share.
const Model miniLm = {"minilm", 384, 12, 12, 32, 1536, 1},
            grouped = {"minilm, grouped", 384, 12, 4, 32, 1536, 1};
constexpr double epsilon = 1e-6, base = 10000;

//===-- Types -------------------------------------------------------------===//

double rounded(double value) { // to bf16, nearest even
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}
uint16_t bf16Of(double value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(rounded(value))) >> 16);
}

//===-- A layer's memory --------------------------------------------------===//

template <class T>
std::vector<T> valuesOf(const Device &device, const DecodeLayer::Tensor &tensor) {
  return bench::downloaded<T>(device, tensor.memory.get(), static_cast<size_t>(tensor.elements()));
}
template <class T>
void write(const Device &device, DecodeLayer::Tensor &tensor, const std::vector<T> &values) {
  device.upload(tensor.memory.get(), values.data(), tensor.bytes());
}
Matrix matrixOf(const Device &device, const DecodeLayer::Tensor &tensor) {
  const auto bits = valuesOf<uint16_t>(device, tensor);
  const auto columns = static_cast<size_t>(tensor.shape.back());
  Matrix rows(bits.size() / columns, Row(columns));
  for (size_t i = 0; i < bits.size(); ++i)
    rows[i / columns][i % columns] = bench::valueOfBf16(bits[i]);
  return rows;
}
void write(const Device &device, DecodeLayer::Tensor &tensor, const Matrix &rows) {
  std::vector<uint16_t> bits;
  for (const Row &row : rows)
    for (double value : row)
      bits.push_back(bf16Of(value));
  write(device, tensor, bits);
}

//===-- The same in loops -------------------------------------------------===//

/// What a layer may get wrong.
enum class Wrong { nothing, scale, turn, norms, halves, last, residual, group, codes };

struct Inputs {
  Model model;
  Activations activations;
  Matrix x, residual;
  Row norm1, norm2, qNorm, kNorm;
  std::map<std::string, Matrix> weights;         ///< Dequantised, in the end.
  std::vector<std::vector<Matrix>> keys, values; ///< By sequence and token: its heads.
  std::vector<int> positions;
};

Row normed(const Row &x, const Row &weight) {
  double sum = 0;
  for (double value : x)
    sum += value * value;
  const double factor = 1 / std::sqrt(sum / static_cast<double>(x.size()) + epsilon);
  Row y;
  for (size_t i = 0; i < x.size(); ++i)
    y.push_back(x[i] * factor * weight[i]);
  return y;
}

Row roundedAll(Row row) {
  for (double &value : row)
    value = rounded(value);
  return row;
}

/// A row as codes of E4M3 with a scale each so many columns hold it.
Row throughCodes(Row row, size_t block) {
  for (size_t first = 0; first < row.size(); first += block) {
    const size_t end = std::min(first + block, row.size());
    double amax = 0;
    for (size_t i = first; i < end; ++i)
      amax = std::max(amax, std::abs(row[i]));
    const double scale = amax == 0 ? 1 : static_cast<float>(amax / 448);
    for (size_t i = first; i < end; ++i) {
      const double value = row[i] / scale;
      const double step = std::ldexp(1.0, std::max(std::ilogb(value), -6) - 3);
      row[i] = std::clamp(std::nearbyint(value / step) * step, -448.0, 448.0) * scale;
    }
  }
  return row;
}

Row times(const Matrix &weight, const Row &x) {
  Row y;
  for (const Row &row : weight) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
      sum += row[i] * x[i];
    y.push_back(rounded(sum));
  }
  return y;
}

Row turned(const Row &head, int position) {
  const size_t half = head.size() / 2;
  Row y(head.size());
  for (size_t i = 0; i < half; ++i) {
    const double angle =
        position * std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
    const double c = rounded(std::cos(angle)), s = rounded(std::sin(angle));
    y[i] = head[i] * c - head[half + i] * s;
    y[half + i] = head[half + i] * c + head[i] * s;
  }
  return y;
}

Row partOf(const Row &row, int64_t first, int64_t count) {
  return {row.begin() + first, row.begin() + first + count};
}

Row attended(const Row &query, const std::vector<Matrix> &keys, const std::vector<Matrix> &values,
             size_t head, size_t tokens) {
  Row weights;
  double most = -INFINITY, sum = 0;
  for (size_t token = 0; token < tokens; ++token) {
    double score = 0;
    for (size_t i = 0; i < query.size(); ++i)
      score += query[i] * keys[token][head][i];
    weights.push_back(score / std::sqrt(static_cast<double>(query.size())));
    most = std::max(most, weights.back());
  }
  for (double &weight : weights)
    sum += weight = std::exp(weight - most);
  Row y(query.size());
  for (size_t token = 0; token < tokens; ++token)
    for (size_t i = 0; i < y.size(); ++i)
      y[i] += weights[token] / sum * values[token][head][i];
  return y;
}

struct Given {
  Row x, residual, keys, values; ///< What is appended, before it is quantised.
};

Given stepOf(const Inputs &in, size_t sequence, Wrong wrong) {
  const Model &m = in.model;
  Row h(in.x[sequence].size());
  for (size_t i = 0; i < h.size(); ++i)
    h[i] = in.x[sequence][i] + in.residual[sequence][i];
  const bool ofCodes = (in.activations == Activations::e4m3) != (wrong == Wrong::codes);
  const auto fed = [&](const Row &row, int64_t block = 128) {
    return ofCodes ? throughCodes(row, static_cast<size_t>(block)) : roundedAll(row);
  };
  Given given;
  given.residual = roundedAll(h);
  const Row projected = times(in.weights.at("qkv"), fed(normed(h, in.norm1)));
  const int position = wrong == Wrong::turn ? in.positions[sequence] + 1 : in.positions[sequence];
  Row heads;
  for (int64_t head = 0; head < m.kvHeads; ++head) {
    const Row key =
        turned(normed(partOf(projected, m.ofQueries() + head * m.headDim, m.headDim), in.kNorm),
               in.positions[sequence]);
    given.keys.insert(given.keys.end(), key.begin(), key.end());
  }
  const size_t tokens = in.keys[sequence].size() - (wrong == Wrong::last);
  for (int64_t head = 0; head < m.heads; ++head) {
    const Row query = turned(normed(partOf(projected, head * m.headDim, m.headDim),
                                    wrong == Wrong::norms ? in.kNorm : in.qNorm),
                             position);
    const int64_t met = wrong == Wrong::group ? head % m.kvHeads : head / (m.heads / m.kvHeads);
    const Row y = attended(roundedAll(query), in.keys[sequence], in.values[sequence],
                           static_cast<size_t>(met), tokens);
    heads.insert(heads.end(), y.begin(), y.end());
  }
  given.values = partOf(projected, m.ofQueries() + m.ofKeys(), m.ofKeys());
  Row o = times(in.weights.at("o"), fed(heads, std::min<int64_t>(128, m.headDim)));
  if (wrong == Wrong::scale)
    for (double &value : o)
      value *= 1.1;
  for (size_t i = 0; i < h.size(); ++i)
    h[i] = o[i] + (wrong == Wrong::residual ? 0 : given.residual[i]);
  given.residual = roundedAll(h);
  const Row wide = times(in.weights.at("gate_up"), fed(normed(h, in.norm2)));
  Row gated;
  for (int64_t i = 0; i < m.ffn; ++i) {
    const auto first = static_cast<size_t>(i), second = static_cast<size_t>(m.ffn + i);
    const double gate = wide[wrong == Wrong::halves ? second : first];
    const double up = wide[wrong == Wrong::halves ? first : second];
    gated.push_back(gate / (1 + std::exp(-gate)) * up);
  }
  given.x = times(in.weights.at("down"), fed(gated));
  return given;
}

/// |a − b| / |b|
double distance(const Matrix &a, const Matrix &b) {
  double difference = 0, all = 0;
  for (size_t row = 0; row < b.size(); ++row)
    for (size_t i = 0; i < b[row].size(); ++i) {
      difference += std::pow(a[row][i] - b[row][i], 2);
      all += b[row][i] * b[row][i];
    }
  return difference == difference ? std::sqrt(difference / all) : INFINITY;
}

Matrix readMatrix(const safetensors::File &file, const std::string &name) {
  const safetensors::Entry *entry = file.find(name);
  if (!entry || entry->dtype != DType::bf16 || entry->shape.empty())
    throw Error(ErrorKind::Request, "no bf16 tensor '" + name + "'", file.path(),
                "make the file with examples/data/slice.py");
  const std::vector<std::byte> data = file.read(*entry);
  const auto columns = static_cast<size_t>(entry->shape.back());
  Matrix rows(data.size() / 2 / columns, Row(columns));
  for (size_t i = 0; i < data.size() / 2; ++i) {
    uint16_t bits;
    std::memcpy(&bits, &data[2 * i], sizeof bits);
    rows[i / columns][i % columns] = bench::valueOfBf16(bits);
  }
  return rows;
}

Matrix stacked(std::initializer_list<Matrix> matrices) {
  Matrix all;
  for (const Matrix &matrix : matrices)
    all.insert(all.end(), matrix.begin(), matrix.end());
  return all;
}

bool say(bool isRight, const char *what, double value, const char *relation, double bound) {
  std::printf("%s %s: %.5f, wanted %s %g\n", isRight ? "ok" : "not ok", what, value, relation,
              bound);
  return isRight;
}

/// Fills a layer and gives what the loops read of it, but for the caches.
Inputs fill(const Device &device, DecodeLayer &layer, const safetensors::File &file, const Model &m,
            Activations activations, const std::vector<int> &lengths, const Batch &batch) {
  const Matrix ofQuery = readMatrix(file, "query"), ofDown = readMatrix(file, "down");
  const auto firstRows = [&](const char *name) {
    Matrix matrix = readMatrix(file, name);
    matrix.resize(static_cast<size_t>(m.ofKeys()));
    return matrix;
  };
  const std::map<std::string, Matrix> weights = {
      {"qkv", stacked({ofQuery, firstRows("key"), firstRows("value")})},
      {"o", readMatrix(file, "output")},
      {"gate_up", stacked({readMatrix(file, "gate"), readMatrix(file, "up")})},
      {"down", ofDown}};
  for (const auto &[name, matrix] : weights) {
    std::vector<uint16_t> bits;
    for (const Row &row : matrix)
      for (double value : row)
        bits.push_back(bf16Of(value));
    const auto memory = bench::allocate(device, 2 * bits.size());
    device.upload(memory.get(), bits.data(), 2 * bits.size());
    layer.setWeight(name, memory.get());
  }
  // What comes in: rows of weights too, of the size that a layer's activations have.
  const size_t b = lengths.size();
  Matrix x, residual;
  for (size_t i = 0; i < b; ++i) {
    x.push_back(ofQuery[i]);
    residual.push_back(partOf(ofDown[i], 0, m.hidden));
  }
  const Row ones(static_cast<size_t>(m.headDim), 1.0);
  write(device, layer.at("x"), x);
  write(device, layer.at("residual"), residual);
  write(device, layer.at("norm1"), readMatrix(file, "norm1"));
  write(device, layer.at("norm2"), readMatrix(file, "norm2"));
  const Row qNorm = partOf(readMatrix(file, "norm1")[0], 0, m.headDim); // elements of other norms
  const Row kNorm = partOf(readMatrix(file, "norm2")[0], 0, m.headDim);
  write(device, layer.at("q_norm"), Matrix{qNorm});
  write(device, layer.at("k_norm"), Matrix{kNorm});
  Matrix cosines, sines;
  for (int position = 0; position < batch.context; ++position) {
    const Row unit = turned(ones, position); // cos − sin, cos + sin
    Row c, s;
    for (size_t i = 0; i < ones.size() / 2; ++i) {
      c.push_back((unit[ones.size() / 2 + i] + unit[i]) / 2);
      s.push_back((unit[ones.size() / 2 + i] - unit[i]) / 2);
    }
    cosines.push_back(c);
    sines.push_back(s);
  }
  write(device, layer.at("cos"), cosines);
  write(device, layer.at("sin"), sines);
  // Pages in an order of no pattern; the new token is the last of each sequence.
  std::vector<int32_t> table;
  std::vector<int64_t> positions, slots;
  for (int64_t page = 0; page < batch.pages(); ++page)
    table.push_back(static_cast<int32_t>((page * 7 + 3) % batch.pages()));
  for (size_t i = 0; i < b; ++i) {
    positions.push_back(lengths[i] - 1);
    const int64_t page = positions[i] / Batch::page + static_cast<int64_t>(i) * batch.pagesOfEach();
    slots.push_back(table[static_cast<size_t>(page)] * Batch::page + positions[i] % Batch::page);
  }
  write(device, layer.at("table"), table);
  write(device, layer.at("positions"), positions);
  write(device, layer.at("slots"), slots);
  write(device, layer.at("lengths"), std::vector<int32_t>(lengths.begin(), lengths.end()));
  write(device, layer.at("k_scale"), std::vector<float>{0.02f});
  write(device, layer.at("v_scale"), std::vector<float>{0.01f});
  for (const char *name : {"k_cache", "v_cache"}) { // codes of some units, each another
    std::vector<uint8_t> codes(layer.at(name).bytes());
    uint32_t random = name[0];
    for (uint8_t &code : codes) {
      random = random * 1664525u + 1013904223u;
      code = static_cast<uint8_t>((random >> 24 & 0x80u) | (0x38u + (random >> 16 & 0x1fu)));
    }
    write(device, layer.at(name), codes);
  }
  Inputs in = {m,
               activations,
               matrixOf(device, layer.at("x")),
               matrixOf(device, layer.at("residual")),
               matrixOf(device, layer.at("norm1"))[0],
               matrixOf(device, layer.at("norm2"))[0],
               qNorm,
               kNorm,
               weights,
               {},
               {},
               {}};
  for (int length : lengths)
    in.positions.push_back(length - 1);
  return in;
}

bool checkBatch(const Device &device, const safetensors::File &file, const Model &m,
                Activations activations, const std::vector<int> &lengths) {
  std::printf("%s, %zu sequences, activations of %s\n", m.name.c_str(), lengths.size(),
              activations == Activations::e4m3 ? "e4m3" : "bf16");
  const Batch batch = {static_cast<int64_t>(lengths.size()), 48};
  DecodeLayer layer(device, m, batch, activations);
  Inputs in = fill(device, layer, file, m, activations, lengths, batch);
  layer.prepare();
  layer.launch({});
  device.synchronize();

  // A code whose value is next to a tie rounds the other way for a bit of bf16 before it, and is a
  // sixteenth off then.
  const double bound = activations == Activations::e4m3 ? 0.03 : 0.01;
  constexpr double ofResidual = 0.01, ofCodes = 0.04;
  bool isRight = true;
  const auto also = [&](const char *what, double found, double limit) {
    isRight = say(found < limit, what, found, "<", limit) && isRight;
  };
  const std::array<double, 256> values = bench::valuesOfE4m3();
  for (const std::string &name : DecodeLayer::weights()) {
    const auto codes = valuesOf<uint8_t>(device, layer.at(name));
    const auto scales = valuesOf<float>(device, layer.at(name + "_scale"));
    const auto columns = static_cast<size_t>(layer.at(name).shape[1]);
    Matrix matrix;
    for (size_t i = 0; i < codes.size(); ++i) {
      if (i % columns == 0)
        matrix.emplace_back();
      matrix.back().push_back(values[codes[i]] * scales[i / columns]);
    }
    also((name + ", quantised").c_str(), distance(matrix, in.weights.at(name)), ofCodes);
    in.weights.at(name) = std::move(matrix);
  }
  const auto table = valuesOf<int32_t>(device, layer.at("table"));
  const auto read = [&](const char *cache, const char *scale) {
    const auto codes = valuesOf<uint8_t>(device, layer.at(cache));
    const double factor = valuesOf<float>(device, layer.at(scale))[0];
    std::vector<std::vector<Matrix>> all;
    for (size_t i = 0; i < lengths.size(); ++i) {
      all.emplace_back();
      for (int token = 0; token < lengths[i]; ++token) {
        const auto page = static_cast<size_t>(table[i * static_cast<size_t>(batch.pagesOfEach()) +
                                                    static_cast<size_t>(token / Batch::page)]);
        const size_t first = (page * Batch::page + static_cast<size_t>(token % Batch::page)) *
                             static_cast<size_t>(m.ofKeys());
        Matrix heads;
        for (int64_t head = 0; head < m.kvHeads; ++head) {
          heads.emplace_back();
          for (int64_t e = 0; e < m.headDim; ++e)
            heads.back().push_back(
                factor * values[codes[first + static_cast<size_t>(head * m.headDim + e)]]);
        }
        all.back().push_back(std::move(heads));
      }
    }
    return all;
  };
  in.keys = read("k_cache", "k_scale");
  in.values = read("v_cache", "v_scale");

  const auto all = [&](Wrong wrong) {
    std::array<Matrix, 4> found; // x, residual, keys, values
    for (size_t i = 0; i < lengths.size(); ++i) {
      Given given = stepOf(in, i, wrong);
      found[0].push_back(std::move(given.x));
      found[1].push_back(std::move(given.residual));
      found[2].push_back(std::move(given.keys));
      found[3].push_back(std::move(given.values));
    }
    return found;
  };
  Matrix keys, appended;
  for (size_t i = 0; i < lengths.size(); ++i) {
    keys.push_back(stacked({in.keys[i].back()})[0]);
    keys.back().clear();
    appended.emplace_back();
    for (const Row &head : in.keys[i].back())
      keys.back().insert(keys.back().end(), head.begin(), head.end());
    for (const Row &head : in.values[i].back())
      appended.back().insert(appended.back().end(), head.begin(), head.end());
  }
  const std::array<Matrix, 4> right = all(Wrong::nothing);
  const Matrix x = matrixOf(device, layer.at("x")),
               residual = matrixOf(device, layer.at("residual"));
  also("x", distance(x, right[0]), bound);
  also("residual", distance(residual, right[1]), ofResidual);
  also("keys appended", distance(keys, right[2]), ofCodes);
  also("values appended", distance(appended, right[3]), ofCodes);
  std::vector<std::pair<Wrong, const char *>> wrongs = {
      {Wrong::scale, "a scale off by a tenth"},       {Wrong::turn, "queries turned too far"},
      {Wrong::halves, "gate and up exchanged"},       {Wrong::last, "without the new token"},
      {Wrong::residual, "without the residual"},      {Wrong::norms, "queries by the keys' norm"},
      {Wrong::codes, "activations of the other type"}};
  if (m.kvHeads != m.heads)
    wrongs.emplace_back(Wrong::group, "heads of keys in another order");
  for (const auto &[wrong, what] : wrongs) {
    const double found = distance(x, all(wrong)[0]);
    isRight = say(found > bound, what, found, ">", bound) && isRight;
  }
  return isRight;
}

} // namespace

bool checkLayer(const Device &device, const std::string &path) {
  const safetensors::File file(path);
  bool isRight = true;
  for (Activations activations : {Activations::bf16, Activations::e4m3}) {
    // A token alone is a value of the cache: codes, whose codes by another scale are ties often.
    const int fewest = activations == Activations::e4m3 ? 2 : 1;
    isRight = checkBatch(device, file, miniLm, activations, {fewest, 17, 40, 33}) && isRight;
    isRight = checkBatch(device, file, grouped, activations, {48, 2, 16}) && isRight;
  }
  // One, whose products are gemv's.
  return checkBatch(device, file, grouped, Activations::bf16, {25}) && isRight;
}

} // namespace eider::llm
