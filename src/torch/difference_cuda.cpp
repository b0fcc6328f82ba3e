#include "difference_cuda.hpp"

namespace harmonia {

const std::string& difference_cuda() {
  static const std::string text = R"cuda(
typedef unsigned short bits16;

// Where differences go: as they are, and as high, low and high parts side by side. Null: not wanted.
struct Out {
  float* pairs;
  bits16* bf16;
  float* tf32;
  unsigned channels, stride;  // of a pixel: how many, and how far its parts reach
};

__device__ float bf16_of(float v, bits16& bits) {
  unsigned b = __float_as_uint(v);
  b += 0x7fffu + ((b >> 16) & 1u);
  bits = (bits16)(b >> 16);
  return __uint_as_float(b & 0xffff0000u);
}

__device__ float tf32_of(float v) {
  unsigned b = __float_as_uint(v);
  b += 0xfffu + ((b >> 13) & 1u);
  return __uint_as_float(b & 0xffffe000u);
}

__device__ void put(const Out& out, size_t at, const float v[4]) {
  if (out.pairs) *(float4*)(out.pairs + at) = make_float4(v[0], v[1], v[2], v[3]);
  if (!out.bf16 && !out.tf32) return;
  const size_t pixel = at / out.channels, channel = at - pixel * out.channels;
  const size_t to = pixel * out.stride + channel;
  if (out.bf16) {
    ushort4 high, low;
    bits16 h[4], l[4];
    for (int k = 0; k < 4; ++k) bf16_of(v[k] - bf16_of(v[k], h[k]), l[k]);
    high = make_ushort4(h[0], h[1], h[2], h[3]);
    low = make_ushort4(l[0], l[1], l[2], l[3]);
    *(ushort4*)(out.bf16 + to) = high;
    *(ushort4*)(out.bf16 + to + out.channels) = low;
    *(ushort4*)(out.bf16 + to + 2 * out.channels) = high;
  } else {
    float h[4];
    for (int k = 0; k < 4; ++k) h[k] = tf32_of(v[k]);
    const float4 high = make_float4(h[0], h[1], h[2], h[3]);
    *(float4*)(out.tf32 + to) = high;
    *(float4*)(out.tf32 + to + out.channels) =
        make_float4(tf32_of(v[0] - h[0]), tf32_of(v[1] - h[1]), tf32_of(v[2] - h[2]), tf32_of(v[3] - h[3]));
    *(float4*)(out.tf32 + to + 2 * out.channels) = high;
  }
}

// Of two differences from the row's answer.
__device__ void join(float plus, float minus, float& d, float& s) {
  d = 0.5f * (plus - minus);
  s = plus + minus;
}

__device__ void relu(float c, float& d, float& s) {
  const float plus = d + 0.5f * s, minus = 0.5f * s - d;
  const bool on = c > 0, on_plus = c + plus > 0, on_minus = c + minus > 0;
  if (on && on_plus && on_minus) return;
  const float rest = on ? -c : 0.f;
  join(on_plus ? (on ? plus : c + plus) : rest, on_minus ? (on ? minus : c + minus) : rest, d, s);
}

__device__ double gelu_at(double x) { return 0.5 * x * (1 + erf(x * 0.70710678118654752440)); }

// By its derivatives where differences are small, which leaves out d^5 and beyond.
__device__ void gelu_nearby(float c, float& d, float& s) {
  const float density = 0.39894228040143268f * expf(-0.5f * c * c), c2 = c * c;
  const float first = normcdff(c) + c * density, second = density * (2 - c2), third = density * c * (c2 - 4),
              fourth = density * (c2 * (7 - c2) - 4);
  const float d2 = d * d, half = 0.5f * s;
  const float plain = d;
  d = plain * (first + second * half + third * (d2 + 3 * half * half) * (1.f / 6));
  s = s * (first + third * (3 * d2 + half * half) * (1.f / 6)) + second * (d2 + half * half) + fourth * d2 * d2 * (1.f / 12);
}

__device__ void gelu(float c, float& d, float& s) {
  if (fabsf(d) + fabsf(s) < 0.02f) return gelu_nearby(c, d, s);
  const double there = gelu_at(c);
  const double plus = gelu_at((double)c + d + 0.5 * s) - there, minus = gelu_at((double)c - d + 0.5 * s) - there;
  d = (float)(0.5 * (plus - minus));
  s = (float)(plus + minus);
}

__device__ void load(const float* from, float v[4]) {
  const float4 found = *(const float4*)from;
  v[0] = found.x; v[1] = found.y; v[2] = found.z; v[3] = found.w;
}

// kind: 0 nothing, 1 relu, 2 gelu. `second` is added to `first`, if it is there. `size`: numbers of an image.
extern "C" __global__ void activation(const float* first, const float* second, const float* centre, const long long* row,
                                      Out out, unsigned size, unsigned pairs, int kind) {
  const unsigned at = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= size) return;
  const size_t pair = blockIdx.y, d_at = pair * size + at, s_at = (pair + pairs) * size + at;
  float d[4], s[4], c[4];
  load(first + d_at, d);
  load(first + s_at, s);
  if (second) {
    float more[4];
    load(second + d_at, more);
    for (int k = 0; k < 4; ++k) d[k] += more[k];
    load(second + s_at, more);
    for (int k = 0; k < 4; ++k) s[k] += more[k];
  }
  if (kind) {
    load(centre + (size_t)row[pair] * size + at, c);
    for (int k = 0; k < 4; ++k) {
      if (kind == 1) relu(c[k], d[k], s[k]);
      else gelu(c[k], d[k], s[k]);
    }
  }
  put(out, d_at, d);
  put(out, s_at, s);
}

struct Pool {
  int height, width, channels, out_height, out_width, size, stride, padding;
};

extern "C" __global__ void max_pool(const float* in, const float* centre, const long long* row, Out out, Pool p,
                                    unsigned pairs) {
  const unsigned at = 4 * (blockIdx.x * blockDim.x + threadIdx.x), size = p.out_height * p.out_width * p.channels;
  if (at >= size) return;
  const int channel = at % p.channels, pixel = at / p.channels, x0 = pixel % p.out_width * p.stride - p.padding,
            y0 = pixel / p.out_width * p.stride - p.padding;
  const size_t pair = blockIdx.y, whole = (size_t)p.height * p.width * p.channels;
  const float *d_in = in + pair * whole, *s_in = in + (pair + pairs) * whole, *c_in = centre + (size_t)row[pair] * whole;
  float most[4], most_plus[4], most_minus[4], c_plus[4], c_minus[4], plus[4], minus[4], d_there[4], s_there[4];
  int where[4], where_plus[4], where_minus[4];
  for (int k = 0; k < 4; ++k) {
    most[k] = most_plus[k] = most_minus[k] = -__int_as_float(0x7f800000);
    where[k] = where_plus[k] = where_minus[k] = -1;
    c_plus[k] = c_minus[k] = plus[k] = minus[k] = d_there[k] = s_there[k] = 0;
  }
  for (int i = 0; i < p.size; ++i) {
    for (int j = 0; j < p.size; ++j) {
      const int y = y0 + i, x = x0 + j;
      if (y < 0 || x < 0 || y >= p.height || x >= p.width) continue;
      const size_t from = ((size_t)y * p.width + x) * p.channels + channel;
      float c[4], d[4], s[4];
      load(c_in + from, c);
      load(d_in + from, d);
      load(s_in + from, s);
      for (int k = 0; k < 4; ++k) {
        const float up = d[k] + 0.5f * s[k], down = 0.5f * s[k] - d[k];
        const int here = i * p.size + j;
        if (c[k] > most[k]) { most[k] = c[k]; where[k] = here; d_there[k] = d[k]; s_there[k] = s[k]; }
        if (c[k] + up > most_plus[k]) { most_plus[k] = c[k] + up; where_plus[k] = here; c_plus[k] = c[k]; plus[k] = up; }
        if (c[k] + down > most_minus[k]) { most_minus[k] = c[k] + down; where_minus[k] = here; c_minus[k] = c[k]; minus[k] = down; }
      }
    }
  }
  float d[4], s[4];
  for (int k = 0; k < 4; ++k) {
    if (where_plus[k] == where[k] && where_minus[k] == where[k]) { d[k] = d_there[k]; s[k] = s_there[k]; }
    else join(c_plus[k] - most[k] + plus[k], c_minus[k] - most[k] + minus[k], d[k], s[k]);
  }
  put(out, pair * size + at, d);
  put(out, (pair + pairs) * size + at, s);
}

__device__ float sum_of_warp(float v) {
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
  return v;
}

__device__ float most_of_warp(float v) {
  for (int k = 16; k > 0; k /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, k));
  return v;
}

// A warp a token of `width` numbers; `tokens` of every pair.
extern "C" __global__ void layer_norm(const float* in, const float* centre, const long long* row, const float* weight,
                                      Out out, unsigned width, unsigned tokens, unsigned pairs, float epsilon) {
  const unsigned token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  const size_t pair = blockIdx.y, d_at = (pair * tokens + token) * width, s_at = ((pair + pairs) * tokens + token) * width;
  const float *d_in = in + d_at, *s_in = in + s_at, *c_in = centre + ((size_t)row[pair] * tokens + token) * width;
  float c_mean = 0, d_mean = 0, s_mean = 0, c[4], d[4], s[4];
  for (unsigned at = 4 * lane; at < width; at += 128) {
    load(c_in + at, c);
    load(d_in + at, d);
    load(s_in + at, s);
    for (int k = 0; k < 4; ++k) { c_mean += c[k]; d_mean += d[k]; s_mean += s[k]; }
  }
  c_mean = sum_of_warp(c_mean) / width;
  d_mean = sum_of_warp(d_mean) / width;
  s_mean = sum_of_warp(s_mean) / width;
  float variance = 0, d_variance = 0, s_variance = 0;
  for (unsigned at = 4 * lane; at < width; at += 128) {
    load(c_in + at, c);
    load(d_in + at, d);
    load(s_in + at, s);
    for (int k = 0; k < 4; ++k) {
      const float cc = c[k] - c_mean, dd = d[k] - d_mean, ss = s[k] - s_mean;
      variance += cc * cc;
      d_variance += dd * (2 * cc + ss);
      s_variance += 2 * cc * ss + 2 * dd * dd + 0.5f * ss * ss;
    }
  }
  const double v = (double)sum_of_warp(variance) / width + epsilon;
  const double dv = (double)sum_of_warp(d_variance) / width / v, sv = (double)sum_of_warp(s_variance) / width / v;
  const double root_plus = sqrt(1 + dv + 0.5 * sv), root_minus = sqrt(1 - dv + 0.5 * sv), scale = 1 / sqrt(v);
  const double plus = -(dv + 0.5 * sv) / (root_plus * (1 + root_plus)) * scale,
               minus = -(0.5 * sv - dv) / (root_minus * (1 + root_minus)) * scale;
  const float d_scale = (float)(0.5 * (plus - minus)), s_scale = (float)(plus + minus),
              d_factor = (float)(scale + 0.5 * (plus + minus)), s_factor = (float)scale;
  for (unsigned at = 4 * lane; at < width; at += 128) {
    float w[4];
    load(c_in + at, c);
    load(d_in + at, d);
    load(s_in + at, s);
    load(weight + at, w);
    for (int k = 0; k < 4; ++k) {
      const float dd = d[k] - d_mean, ss = s[k] - s_mean, middle = c[k] - c_mean + 0.5f * ss;
      d[k] = w[k] * (middle * d_scale + dd * d_factor);
      s[k] = w[k] * (middle * s_scale + ss * s_factor + 2 * dd * d_scale);
    }
    put(out, d_at + at, d);
    put(out, s_at + at, s);
  }
}

// A warp a list of `width` numbers, `lists` of every pair; `centre`: the probabilities at the row.
extern "C" __global__ void softmax(const float* in, const float* centre, const long long* row, float* out, unsigned width,
                                   unsigned lists, unsigned pairs) {
  const unsigned list = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (list >= lists) return;
  const size_t pair = blockIdx.y, d_at = (pair * lists + list) * width, s_at = ((pair + pairs) * lists + list) * width;
  const float *d_in = in + d_at, *s_in = in + s_at, *p_in = centre + ((size_t)row[pair] * lists + list) * width;
  float largest = 0, d_sum = 0, s_sum = 0;
  for (unsigned at = lane; at < width; at += 32) {
    const float d = d_in[at], half = 0.5f * s_in[at], p = p_in[at], e = expm1f(half), h = sinhf(0.5f * d);
    largest = fmaxf(largest, fabsf(d) + fabsf(half));
    d_sum += p * (e + 1) * sinhf(d);
    s_sum += p * (2 * coshf(d) * e + 4 * h * h);
  }
  if (most_of_warp(largest) < 20) {
    d_sum = sum_of_warp(d_sum);
    s_sum = sum_of_warp(s_sum);
    const float middle = 1 + 0.5f * s_sum, whole = (middle + d_sum) * (middle - d_sum), mean = middle / whole,
                apart = -d_sum / whole;
    for (unsigned at = lane; at < width; at += 32) {
      const float d = d_in[at], half = 0.5f * s_in[at], p = p_in[at], e = expm1f(half), h = sinhf(0.5f * d);
      const float dd = (e + 1) * sinhf(d) - d_sum, ss = 2 * coshf(d) * e + 4 * h * h - s_sum;
      out[d_at + at] = p * (dd * mean + 0.5f * ss * apart);
      out[s_at + at] = p * (ss * mean + 2 * dd * apart);
    }
    return;
  }
  float most_plus = -__int_as_float(0x7f800000), most_minus = -__int_as_float(0x7f800000);
  for (unsigned at = lane; at < width; at += 32) {
    if (p_in[at] == 0) continue;
    most_plus = fmaxf(most_plus, d_in[at] + 0.5f * s_in[at]);
    most_minus = fmaxf(most_minus, 0.5f * s_in[at] - d_in[at]);
  }
  most_plus = most_of_warp(most_plus);
  most_minus = most_of_warp(most_minus);
  double plus = 0, minus = 0;
  for (unsigned at = lane; at < width; at += 32) {
    plus += p_in[at] * exp((double)d_in[at] + 0.5 * s_in[at] - most_plus);
    minus += p_in[at] * exp(0.5 * s_in[at] - d_in[at] - most_minus);
  }
  for (int k = 16; k > 0; k /= 2) {
    plus += __shfl_xor_sync(0xffffffffu, plus, k);
    minus += __shfl_xor_sync(0xffffffffu, minus, k);
  }
  for (unsigned at = lane; at < width; at += 32) {
    const double p = p_in[at], up = p * (exp((double)d_in[at] + 0.5 * s_in[at] - most_plus) / plus - 1),
                 down = p * (exp(0.5 * s_in[at] - d_in[at] - most_minus) / minus - 1);
    out[d_at + at] = (float)(0.5 * (up - down));
    out[s_at + at] = (float)(up + down);
  }
}

// A matrix of every pair and head, `outer` × `inner` with these distances between its numbers.
struct Strided {
  const float* data;
  long long of_image, of_head, of_outer, of_inner;
};

// Parts of two numbers next to each other.
__device__ void put_parts(bits16* out, size_t at, size_t apart, float v, float w, int right) {
  ushort2 high, low;
  bf16_of(v - bf16_of(v, high.x), low.x);
  bf16_of(w - bf16_of(w, high.y), low.y);
  *(ushort2*)(out + at) = high;
  *(ushort2*)(out + at + apart) = right ? high : low;
  *(ushort2*)(out + at + 2 * apart) = right ? low : high;
}

// A factor of (a + δa)(b + δb) − ab, so that D and S of the product are one matrix product each: along the axis that is
// summed, D takes a + Sa/2, Da on the left and Db, b + Sb/2 on the right; S takes a + Sa/2, Sa, 2 Da and Sb, b, Db.
// `padded`: inner, rounded up. inner_last: that axis is the last of what is written, or else the first.
extern "C" __global__ void pack(Strided moved, Strided centre, const long long* row, bits16* d_out, bits16* s_out,
                                unsigned heads, unsigned outer, unsigned inner, unsigned padded, unsigned pairs, int right,
                                int inner_last) {
  const unsigned at = 2 * (blockIdx.x * blockDim.x + threadIdx.x), image = blockIdx.y;
  if (at >= heads * outer * padded) return;
  const unsigned head = at / (outer * padded), within = at - head * (outer * padded);
  const unsigned i = inner_last ? within / padded : within % outer, k = inner_last ? within % padded : within / outer;
  float c[2] = {0, 0}, d[2] = {0, 0}, s[2] = {0, 0};
  for (int next = 0; next < 2; ++next) {
    const unsigned ii = inner_last ? i : i + next, kk = inner_last ? k + next : k;
    if (kk >= inner) continue;
    const size_t place = head * moved.of_head + ii * moved.of_outer + kk * moved.of_inner;
    d[next] = moved.data[image * moved.of_image + place];
    s[next] = moved.data[((size_t)image + pairs) * moved.of_image + place];
    c[next] = centre.data[row[image] * centre.of_image + head * centre.of_head + ii * centre.of_outer + kk * centre.of_inner];
  }
  const size_t matrix = (size_t)image * heads + head, apart = inner_last ? padded : (size_t)padded * outer;
  const size_t d_at = matrix * 6 * padded * outer + (inner_last ? (size_t)i * 6 * padded + k : (size_t)k * outer + i);
  const size_t s_at = matrix * 9 * padded * outer + (inner_last ? (size_t)i * 9 * padded + k : (size_t)k * outer + i);
  const float middle[2] = {c[0] + 0.5f * s[0], c[1] + 0.5f * s[1]};
  put_parts(d_out, d_at, apart, right ? d[0] : middle[0], right ? d[1] : middle[1], right);
  put_parts(d_out, d_at + 3 * apart, apart, right ? middle[0] : d[0], right ? middle[1] : d[1], right);
  put_parts(s_out, s_at, apart, right ? s[0] : middle[0], right ? s[1] : middle[1], right);
  put_parts(s_out, s_at + 3 * apart, apart, right ? c[0] : s[0], right ? c[1] : s[1], right);
  put_parts(s_out, s_at + 6 * apart, apart, right ? d[0] : 2 * d[0], right ? d[1] : 2 * d[1], right);
}
)cuda";
  return text;
}

}  // namespace harmonia
