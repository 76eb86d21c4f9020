import FuzzInput

/// What libFuzzer calls with each input; it brings the `main` of this executable.
// SAFETY: the bytes are copied before the call returns, and libFuzzer gives as many as it says.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzInput.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
