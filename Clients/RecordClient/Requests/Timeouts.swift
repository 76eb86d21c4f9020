import NIOCore

/// Bounds on the time that a request may take.
struct Timeouts: Hashable, Sendable {
    /// Longer than any process runs, and far from the end of the clock.
    private static let max: TimeAmount = .hours(24 * 365 * 10)

    /// For requests that never time out.
    static let endless = Timeouts(request: .seconds(Int64.max), resource: .seconds(Int64.max))

    /// The longest time without a sign of the server.
    let request: TimeAmount
    /// The longest time in total.
    let resource: TimeAmount
    /// The longest time without a connection, for a request that was never sent.
    let connection: TimeAmount

    /// Without `connection`, a request waits for a connection as long as for a response.
    init(request: Duration, resource: Duration, connection: Duration? = nil) {
        self.request = min(TimeAmount(request), Self.max)
        self.resource = min(TimeAmount(resource), Self.max)
        self.connection = min(TimeAmount(connection ?? request), Self.max)
    }
}
