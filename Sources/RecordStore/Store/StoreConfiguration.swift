package import RecordModel

/// The choices of an operator for a store, whatever engine keeps its rows.
///
/// Everything has a default but the clock.
package struct StoreConfiguration: Sendable {
    /// Milliseconds since 1970; may be called from any thread.
    ///
    /// An engine has the same for the times of its transactions.
    package var clock: @Sendable () -> Int64
    package var bounds = Bounds.defaults
    package var quotas = StorageQuotas.none
    /// The time for which the outcome of a request is kept.
    package var requestIDRetentionSeconds = 3_600
    /// The maximum time of an asset without a record that names it, and of an upload without a
    /// byte.
    package var assetGraceSeconds = 86_400
    /// Bounds of reads; `bounds` say how large a response may be.
    package var reading = ReadRules()

    package init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    var writeRules: WriteRules {
        WriteRules(
            bounds: self.bounds,
            quotas: self.quotas,
            requestIDRetentionSeconds: self.requestIDRetentionSeconds,
            assetGraceSeconds: self.assetGraceSeconds
        )
    }

    var readRules: ReadRules {
        var rules = self.reading
        rules.responseBytesMax = self.bounds.responseBytesMax
        return rules
    }
}
