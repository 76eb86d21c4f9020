/// Measures of the equality of shares.
enum Fairness {
    /// Jain's index: the square of the sum, divided by the number of shares times the sum of their
    /// squares.
    ///
    /// It is 1 if all are equal, and 1/n if one of n has everything. Without shares, or if all are
    /// 0, it is 1.
    ///
    /// - Source: Jain, Chiu and Hawe, "A Quantitative Measure of Fairness and Discrimination for
    ///   Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984.
    static func jain(_ shares: [Double]) -> Double {
        let sum = shares.reduce(0, +)
        let squares = shares.reduce(0) { $0 + $1 * $1 }
        return squares > 0 ? sum * sum / (Double(shares.count) * squares) : 1
    }

    /// Divides the capacity: small demands are met, and all larger ones get equal shares.
    ///
    /// The division is max-min fair: no share can grow unless one that is not larger shrinks.
    static func maxMin(capacity: Double, demands: [Double]) -> [Double] {
        var shares = Array(repeating: 0.0, count: demands.count)
        var left = capacity
        var hungry = demands.count
        for index in demands.indices.sorted(by: { demands[$0] < demands[$1] }) {
            shares[index] = min(demands[index], left / Double(hungry))
            left -= shares[index]
            hungry -= 1
        }
        return shares
    }

    /// The part of its max-min fair share that each tenant got, at most 1.
    ///
    /// More is no one's loss, unless another got less.
    static func satisfactions(work: [Double], demands: [Double]) -> [Double] {
        let fair = self.maxMin(capacity: work.reduce(0, +), demands: demands)
        return zip(work, fair).map { work, fair in fair > 0 ? min(1, work / fair) : 1 }
    }
}
