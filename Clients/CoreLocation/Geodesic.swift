import Foundation

/// The shortest path along the surface of the WGS 84 ellipsoid.
///
/// The inverse formula of T. Vincenty, *Direct and inverse solutions of geodesics on the ellipsoid
/// with application of nested equations*, Survey Review 23 (1975). It does not converge for nearly
/// opposite positions.
enum Geodesic {
    private static let equatorialMetres = 6_378_137.0
    private static let flattening = 1 / 298.257_223_563
    private static let polarMetres = (1 - Self.flattening) * Self.equatorialMetres
    /// The radius of the sphere with the mean of the ellipsoid's three half axes.
    private static let meanMetres = 6_371_008.771_4
    private static let roundsMax = 200

    static func metres(from start: CLLocationCoordinate2D, to end: CLLocationCoordinate2D) -> Double {
        let places = Places(start, end, flattening: Self.flattening)
        var lambda = places.longitudeDifference
        for _ in 0..<Self.roundsMax {
            guard let arc = Arc(places, lambda: lambda) else { return 0 }
            let next = places.longitudeDifference + arc.longitudeExcess(flattening: Self.flattening)
            if abs(next) > .pi { break }
            if abs(next - lambda) < 1e-12 { return self.metres(of: arc) }
            lambda = next
        }
        return self.greatCircleMetres(from: start, to: end)
    }

    private static func metres(of arc: Arc) -> Double {
        let a2 = self.equatorialMetres * self.equatorialMetres
        let b2 = self.polarMetres * self.polarMetres
        let u2 = arc.cosineSquaredAlpha * (a2 - b2) / b2
        let a = 1 + u2 / 16_384 * (4_096 + u2 * (-768 + u2 * (320 - 175 * u2)))
        let b = u2 / 1_024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
        let c = arc.cosineDoubleMidpoint
        let inner =
            arc.cosine * (2 * c * c - 1) - b / 6 * c * (4 * arc.sine * arc.sine - 3) * (4 * c * c - 3)
        let correction = b * arc.sine * (c + b / 4 * inner)
        return self.polarMetres * a * (arc.angle - correction)
    }

    private static func greatCircleMetres(
        from start: CLLocationCoordinate2D,
        to end: CLLocationCoordinate2D
    ) -> Double {
        let places = Places(start, end, flattening: 0)
        guard let arc = Arc(places, lambda: places.longitudeDifference) else { return 0 }
        return self.meanMetres * arc.angle
    }
}

/// Two positions by their reduced latitudes.
private struct Places {
    let sine1, cosine1, sine2, cosine2: Double
    let longitudeDifference: Double

    init(_ start: CLLocationCoordinate2D, _ end: CLLocationCoordinate2D, flattening: Double) {
        let radians = Double.pi / 180
        let u1 = atan((1 - flattening) * tan(start.latitude * radians))
        let u2 = atan((1 - flattening) * tan(end.latitude * radians))
        self.sine1 = sin(u1)
        self.cosine1 = cos(u1)
        self.sine2 = sin(u2)
        self.cosine2 = cos(u2)
        // Across the date line the path is the short one.
        let degrees = (end.longitude - start.longitude).remainder(dividingBy: 360)
        self.longitudeDifference = degrees * radians
    }
}

/// The arc between two positions on the auxiliary sphere.
private struct Arc {
    let sine, cosine, angle: Double
    let sineAlpha, cosineSquaredAlpha, cosineDoubleMidpoint: Double

    /// Makes the arc; `nil` if the positions are the same.
    init?(_ places: Places, lambda: Double) {
        let x = places.cosine2 * sin(lambda)
        let y = places.cosine1 * places.sine2 - places.sine1 * places.cosine2 * cos(lambda)
        self.sine = (x * x + y * y).squareRoot()
        guard self.sine != 0 else { return nil }
        self.cosine = places.sine1 * places.sine2 + places.cosine1 * places.cosine2 * cos(lambda)
        self.angle = atan2(self.sine, self.cosine)
        self.sineAlpha = places.cosine1 * places.cosine2 * sin(lambda) / self.sine
        self.cosineSquaredAlpha = 1 - self.sineAlpha * self.sineAlpha
        // Along the equator the midpoint is undefined, and has no effect.
        self.cosineDoubleMidpoint =
            self.cosineSquaredAlpha > 1e-15
            ? self.cosine - 2 * places.sine1 * places.sine2 / self.cosineSquaredAlpha : 0
    }

    /// How much longer the path is in longitude on the auxiliary sphere than on the ellipsoid.
    func longitudeExcess(flattening f: Double) -> Double {
        let c = f / 16 * self.cosineSquaredAlpha * (4 + f * (4 - 3 * self.cosineSquaredAlpha))
        let m = self.cosineDoubleMidpoint
        let inner = m + c * self.cosine * (2 * m * m - 1)
        return (1 - c) * f * self.sineAlpha * (self.angle + c * self.sine * inner)
    }
}
