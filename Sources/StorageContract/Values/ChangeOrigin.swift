/// Names one run of one server of a store.
///
/// Data that outlives a run and names one of its connections, such as a pending change of a shared
/// database, names the run as well. The numbers of connections begin anew with each run.
package struct ServerRun: Hashable, Sendable {
    /// The server; 0, as the number of the run tells servers apart as well.
    package let node: UInt32
    /// Drawn at random at each start, so that no earlier run had it.
    package let boot: UInt64

    /// A run that begins now, with a random `boot`.
    package static func fresh() -> ServerRun {
        ServerRun(node: 0, boot: UInt64.random(in: .min ... .max))
    }
}

/// The connection that made a change: it is not notified of that change.
package struct ChangeOrigin: Hashable, Sendable {
    package let run: ServerRun
    package let connection: UInt64

    package init(run: ServerRun, connection: UInt64) {
        self.run = run
        self.connection = connection
    }
}

extension ChangeOrigin {
    /// The number of `bytes`.
    private static let bytesCount = 20

    /// Node, boot and connection, the most significant byte first.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.bytesCount)
        Self.append(self.run.node, to: &bytes)
        Self.append(self.run.boot, to: &bytes)
        Self.append(self.connection, to: &bytes)
        return bytes
    }

    /// `nil` if the bytes are not those of an origin.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.bytesCount else { return nil }
        self.run = ServerRun(
            node: UInt32(truncatingIfNeeded: Self.number(bytes[0..<4])),
            boot: Self.number(bytes[4..<12])
        )
        self.connection = Self.number(bytes[12..<20])
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        // SAFETY: the bytes are copied before the call returns.
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
