import StorageContract

extension FeedFailure {
    /// Runs a read that fails only if the storage does.
    ///
    /// Pages call it for each record, and no `package` function of another module is inlined.
    @inline(__always)
    static func wrapping<Value>(
        _ read: () throws(StorageFailure) -> Value
    ) throws(FeedFailure) -> Value {
        do throws(StorageFailure) {
            return try read()
        } catch {
            throw .storage(error)
        }
    }
}
