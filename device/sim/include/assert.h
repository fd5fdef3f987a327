// assert.h - in place of the C library's, which a kernel cannot call. Like that
// one it may be included again.
#undef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : simt_trap("assertion failed: " #e, __LINE__))
#endif
