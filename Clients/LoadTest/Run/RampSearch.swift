import Foundation

/// Looks for the highest rate that holds: in steps that grow until one does not, then between that and the one before.
struct RampSearch: Sendable {
    private let factor: Double
    /// How near the two come to each other: 1.05 is within 5 %.
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

    /// The rate to try; `nil`: it is found, or there is none.
    var rate: Double? {
        guard self.tries < self.triesMax else { return nil }
        guard let held = self.highestHeld, let tooMuch = self.lowestTooMuch else {
            // A hundredth of what somebody thought would hold is no use to him.
            return self.tries > 12 && self.highestHeld == nil ? nil : self.next
        }
        return tooMuch / held > self.precision ? self.next : nil
    }

    /// Takes note of whether a rate held.
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
