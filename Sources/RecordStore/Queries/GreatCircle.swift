#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
package import RecordModel

/// The distance in metres between two points on the earth.
///
/// The formula is W. D. Lambert's: the great circle between the reduced latitudes, corrected for
/// the flattening. It differs from the geodesic of the ellipsoid by metres over thousands of
/// kilometres. For nearly antipodal points it is a plain great circle, within 0.5 %.
package enum GreatCircle {
    private static let equatorMetres = 6_378_137.0
    private static let flattening = 1 / 298.257_223_563
    private static let meanRadiusMetres = 6_371_008.8
    /// Beyond this angle the correction is meaningless.
    private static let correctedRadiansMax = 3.0

    package static func metres(from one: Location, to other: Location) -> Double {
        let first = self.reduced(one.latitude)
        let second = self.reduced(other.latitude)
        let halfHeight = (second - first) / 2
        let halfTurn = (other.longitude - one.longitude) * .pi / 360
        let height = sin(halfHeight)
        let turn = sin(halfTurn)
        let chord = height * height + cos(first) * cos(second) * turn * turn
        let angle = 2 * asin(min(1, chord.squareRoot()))
        guard angle > 0 else { return 0 }
        guard angle < self.correctedRadiansMax else { return angle * self.meanRadiusMetres }
        let middle = (first + second) / 2
        let alongHalf = self.square(cos(angle / 2))
        let acrossHalf = self.square(sin(angle / 2))
        let along =
            (angle - sin(angle)) * self.square(sin(middle)) * self.square(cos(halfHeight)) / alongHalf
        let across =
            (angle + sin(angle)) * self.square(cos(middle)) * self.square(sin(halfHeight)) / acrossHalf
        return self.equatorMetres * (angle - self.flattening / 2 * (along + across))
    }

    private static func reduced(_ degrees: Double) -> Double {
        atan((1 - self.flattening) * tan(degrees * .pi / 180))
    }

    private static func square(_ number: Double) -> Double { number * number }

    /// Degrees of latitude and longitude that a circle reaches from its centre, rounded up; `nil`
    /// for all longitudes.
    static func reach(of metres: Double, from centre: Location) -> (latitude: Double, longitude: Double?) {
        // The smallest radius of curvature, less 1 %.
        let angle = metres / 6_270_000
        let degrees = angle * 180 / .pi + 1e-6
        guard angle < 1.5, abs(centre.latitude) + degrees < 90 else { return (degrees, nil) }
        let ratio = sin(angle) / cos(centre.latitude * .pi / 180)
        guard ratio < 1 else { return (degrees, nil) }
        return (degrees, asin(ratio) * 181 / .pi + 1e-6)
    }
}
