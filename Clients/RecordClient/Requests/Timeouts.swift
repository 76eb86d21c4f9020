import NIOCore

/// How long a request may take.
struct Timeouts: Hashable, Sendable {
    /// Longer than any process runs, and far from the end of the clock.
    private static let max: TimeAmount = .hours(24 * 365 * 10)

    /// For what nobody gives up.
    static let endless = Timeouts(request: .seconds(Int64.max), resource: .seconds(Int64.max))

    /// Longest silence.
    let request: TimeAmount
    /// Longest time over all.
    let resource: TimeAmount
    /// Longest time without a connection, while the request was never sent.
    let connection: TimeAmount

    /// Without `connection` a request waits for one as long as for an answer.
    init(request: Duration, resource: Duration, connection: Duration? = nil) {
        self.request = min(TimeAmount(request), Self.max)
        self.resource = min(TimeAmount(resource), Self.max)
        self.connection = min(TimeAmount(connection ?? request), Self.max)
    }
}
