import Foundation

/// Searches for the highest rate that holds: in growing steps until one fails, then between that
/// and the one before.
struct RampSearch: Sendable {
    private let factor: Double
    /// The factor at which the search ends: 1.05 is within 5 %.
    private let precision: Double
    private let triesMax: Int
    private var next: Double
    private var tries = 0
    private(set) var highestHeld: Double?
    private var lowestTooMuch: Double?

    init(from rate: Double, factor: Double = 1.5, precision: Double = 1.05, triesMax: Int = 40) {
        self.next = rate
        self.factor = factor
        self.precision = precision
        self.triesMax = triesMax
    }

    /// The next rate to try, or `nil` if the search has ended.
    var rate: Double? {
        guard self.tries < self.triesMax else { return nil }
        guard let held = self.highestHeld, let tooMuch = self.lowestTooMuch else {
            // A hundredth of the first rate would be of no use.
            return self.tries > 12 && self.highestHeld == nil ? nil : self.next
        }
        return tooMuch / held > self.precision ? self.next : nil
    }

    /// Notes whether a rate held.
    mutating func tried(_ rate: Double, held: Bool) {
        self.tries += 1
        if held {
            self.highestHeld = max(self.highestHeld ?? 0, rate)
        } else {
            self.lowestTooMuch = min(self.lowestTooMuch ?? .infinity, rate)
        }
        switch (self.highestHeld, self.lowestTooMuch) {
        case (let held?, let tooMuch?): self.next = (held * tooMuch).squareRoot()
        case (let held?, nil): self.next = held * self.factor
        case (nil, _): self.next = rate / self.factor
        }
    }
}
