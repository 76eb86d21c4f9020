import NIOCore

/// The delay of sign-in refusals for an address.
///
/// The first refusals are sent at once, since most are mistakes; then one more a second, the others
/// a second later. No address is locked out, and no other address waits.
struct RefusalPace {
    /// Number of immediate refusals for one address.
    static let burst = 10
    private static let refillInterval = TimeAmount.seconds(1)
    static let pause = TimeAmount.seconds(1)
    /// At this bound all are forgotten: it takes 4,096 networks to reach it.
    private static let addressesMax = 4_096

    /// When all used-up refusals of an address are refilled.
    private var fullAgain: [String: NIODeadline] = [:]

    /// Number of networks in memory.
    var count: Int { self.fullAgain.count }

    /// A client of a network was refused.
    ///
    /// - Returns: How long to delay the response.
    mutating func refused(_ network: String, now: NIODeadline) -> TimeAmount {
        if self.fullAgain[network] == nil, self.fullAgain.count >= Self.addressesMax {
            self.fullAgain = self.fullAgain.filter { $0.value > now }
            if self.fullAgain.count >= Self.addressesMax { self.fullAgain = [:] }
        }
        let full = max(self.fullAgain[network] ?? now, now) + Self.refillInterval
        guard full - now <= Self.refillInterval * Self.burst else { return Self.pause }
        self.fullAgain[network] = full
        return .zero
    }

    /// The whole of an IPv4 address, the first 64 bits of an IPv6 address: the range that one
    /// machine may choose from.
    static func network(of address: SocketAddress?) -> String {
        let text = address?.ipAddress ?? ""
        guard text.contains(":"), !text.contains(".") else { return text }
        var groups = text.split(separator: ":", omittingEmptySubsequences: false)
        if let gap = groups.firstIndex(of: "") {
            let zeros = Array(repeating: Substring("0"), count: max(0, 8 - groups.count { !$0.isEmpty }))
            groups = (groups[..<gap] + zeros + groups[gap...]).filter { !$0.isEmpty }
        }
        return groups.prefix(4).joined(separator: ":")
    }
}
