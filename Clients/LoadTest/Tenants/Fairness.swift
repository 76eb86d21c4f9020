/// How equal shares are.
enum Fairness {
    /// Jain's index: the square of the sum in the number of shares times the sum of their squares.
    ///
    /// 1 if all are equal, 1/n if one of n has everything. Without shares, or if all are 0, it is 1.
    ///
    /// - Source: Jain, Chiu and Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared
    ///   Computer Systems", DEC-TR-301, 1984.
    static func jain(_ shares: [Double]) -> Double {
        let sum = shares.reduce(0, +)
        let squares = shares.reduce(0) { $0 + $1 * $1 }
        return squares > 0 ? sum * sum / (Double(shares.count) * squares) : 1
    }

    /// Shares the capacity out: to each what it asks for, and to those who ask for more the same.
    ///
    /// Max-min fair: nobody can have more without somebody having less who has no more.
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

    /// The part of its max-min fair share that each got, at most all of it: more than that is nobody's loss, unless another got less.
    static func satisfactions(work: [Double], demands: [Double]) -> [Double] {
        let fair = self.maxMin(capacity: work.reduce(0, +), demands: demands)
        return zip(work, fair).map { work, fair in fair > 0 ? min(1, work / fair) : 1 }
    }
}
