// textures.cu - texture and surface objects (textures_test.go).
#define EXPORT extern "C" __global__

template <class T> struct Stored {
    static const cudaTextureReadMode mode = cudaReadModeElementType;
    static __device__ float read(cudaTextureObject_t t, int i) { return tex1Dfetch<T>(t, i); }
};

EXPORT void fetched(float *y, cudaTextureObject_t t) {
    int i = threadIdx.x;
    y[i] = Stored<float>::read(t, i - 1);
}

EXPORT void line(float *y, const float *at, cudaTextureObject_t t) {
    y[threadIdx.x] = tex1D<float>(t, at[threadIdx.x]);
}

EXPORT void plane(float *y, const float *at, cudaTextureObject_t t) {
    int i = threadIdx.x;
    tex2D(&y[i], t, at[2 * i], at[2 * i + 1]);
}

EXPORT void colors(float4 *y, const float *at, cudaTextureObject_t t) {
    int i = threadIdx.x;
    y[i] = tex2DLod<float4>(t, at[2 * i], at[2 * i + 1], 0);
}

EXPORT void bytes(unsigned *y, cudaTextureObject_t t) {
    int i = threadIdx.x;
    uchar4 c = tex2D<uchar4>(t, (float)(i % 8), (float)(i / 8));
    y[i] = c.x | c.y << 8 | c.z << 16 | c.w << 24;
}

EXPORT void gathered(float *y, cudaTextureObject_t t) {
    float4 v = tex2Dgather<float4>(t, 2.0f, 1.0f);
    y[0] = v.x, y[1] = v.y, y[2] = v.z, y[3] = v.w;
}

EXPORT void volume(float *y, const float *at, cudaTextureObject_t t) {
    int i = threadIdx.x;
    y[i] = tex3D<float>(t, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}

EXPORT void layers(float *y, cudaTextureObject_t t) {
    int i = threadIdx.x;
    y[i] = tex2DLayered<float>(t, 1.5f, 0.5f, i);
}

EXPORT void cube(float *y, const float *d, cudaTextureObject_t t) {
    int i = threadIdx.x;
    y[i] = texCubemap<float>(t, d[3 * i], d[3 * i + 1], d[3 * i + 2]);
}

// Through a surface and back through the texture that lies there, in the next launch.
EXPORT void turned(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int n) {
    int x = threadIdx.x, y = blockIdx.x;
    float v;
    surf2Dread(&v, from, 4 * x, y);
    surf2Dwrite(v, to, 4 * y, x);
    surf2Dwrite(v, to, 4 * (n + x), y, cudaBoundaryModeZero);
}

EXPORT void edges(float *y, cudaSurfaceObject_t s) {
    y[0] = surf2Dread<float>(s, -4, 9, cudaBoundaryModeClamp);
    y[1] = surf2Dread<float>(s, -4, 9, cudaBoundaryModeZero);
}

EXPORT void volume_of(float *y, cudaExtent size) {
    y[0] = size.width * size.height * size.depth;
}

// Misuse, each with its finding.
EXPORT void wrong_type(float *y, cudaTextureObject_t t) {
    y[0] = (float)tex2D<unsigned char>(t, 0.0f, 0.0f);
}

EXPORT void outside(cudaSurfaceObject_t s) {
    surf2Dwrite(1.0f, s, 4 * (threadIdx.x + 1), 0);
}

EXPORT void crooked(cudaSurfaceObject_t s) {
    surf2Dwrite(1.0f, s, threadIdx.x, 0);
}

EXPORT void racing(cudaSurfaceObject_t s, float *y) {
    surf2Dwrite((float)threadIdx.x, s, 4 * threadIdx.x, 0);
    y[threadIdx.x] = surf2Dread<float>(s, 4 * (threadIdx.x ^ 1), 0);
}

// A kernel may write anything, at a texture's place too.
EXPORT void forged(float *y, unsigned long long *own, unsigned long long mark) {
    own[0] = mark, own[1] = (unsigned long long)y, own[2] = 8, own[3] = 1ull << 32;
    own[4] = 0x02ffull; // 255 bytes a number, two of them
    y[0] = tex1D<float>((cudaTextureObject_t)own, 0);
}
