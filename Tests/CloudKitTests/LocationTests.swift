import CoreLocation
import Foundation
import Testing

struct `A location` {
    private func metres(_ a: (Double, Double), _ b: (Double, Double)) -> Double {
        CLLocation(latitude: a.0, longitude: a.1).distance(from: CLLocation(latitude: b.0, longitude: b.1))
    }

    /// A degree along the equator is π/180 of the equatorial radius; the others follow from the
    /// definition of WGS 84.
    @Test func `measures along the ellipsoid`() {
        #expect(abs(self.metres((0, 0), (0, 1)) - 6_378_137 * .pi / 180) < 0.001)
        // A quarter of a meridian.
        #expect(abs(self.metres((0, 0), (90, 0)) - 10_001_965.729) < 0.001)
        // Vincenty's own line from Flinders Peak to Buninyong, as published for the Australian datum GDA94.
        let flinders = (-(37 + 57.0 / 60 + 3.72030 / 3600), 144 + 25.0 / 60 + 29.52440 / 3600)
        let buninyong = (-(37 + 39.0 / 60 + 10.15610 / 3600), 143 + 55.0 / 60 + 35.38390 / 3600)
        #expect(abs(self.metres(flinders, buninyong) - 54_972.271) < 0.001)
        #expect(abs(self.metres(buninyong, flinders) - 54_972.271) < 0.001)
    }

    @Test func `goes the short way across the date line`() {
        #expect(abs(self.metres((0, 179.5), (0, -179.5)) - self.metres((0, 0), (0, 1))) < 0.001)
    }

    @Test func `is nowhere from itself and half a globe from the other side`() {
        #expect(self.metres((47, 8), (47, 8)) == 0)
        let half = self.metres((0, 0), (0.1, 179.9))
        #expect(half > 19_900_000 && half < 20_040_000)
        #expect(self.metres((.nan, 0), (0, 0)).isNaN)
    }

    @Test func `knows which coordinates are places`() {
        #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(90, -180)))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(90.000_001, 0)))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(0, 180.000_001)))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(.nan, 0)))
        #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
    }

    @Test func `says what was not measured`() {
        let place = CLLocation(latitude: 1, longitude: 2)
        #expect(place.horizontalAccuracy == 0)
        #expect(place.verticalAccuracy == -1)
        #expect(place.course == -1)
        #expect(place.courseAccuracy == -1)
        #expect(place.speed == -1)
        #expect(place.speedAccuracy == -1)
    }

    @Test func `has the source that it was made with, and nothing that only a receiver knows`() {
        let place = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2),
            altitude: 3,
            horizontalAccuracy: 4,
            verticalAccuracy: 5,
            course: 6,
            courseAccuracy: 7,
            speed: 8,
            speedAccuracy: 9,
            timestamp: Date(timeIntervalSince1970: 10),
            sourceInfo: CLLocationSourceInformation(
                softwareSimulationState: true,
                andExternalAccessoryState: false
            )
        )
        #expect(place.sourceInformation?.isSimulatedBySoftware == true)
        #expect(place.sourceInformation?.isProducedByAccessory == false)
        #expect(place.speedAccuracy == 9)
        #expect(place.floor == nil)
        #expect(place.ellipsoidalAltitude == 0)
        #expect(CLLocation(latitude: 1, longitude: 2).sourceInformation == nil)
    }

    @Test func `has values with Apple's numbers`() {
        #expect(CLAuthorizationStatus.authorizedWhenInUse.rawValue == 4)
        #expect(CLAccuracyAuthorization.reducedAccuracy.rawValue == 1)
        #expect(CLActivityType.other.rawValue == 1 && CLActivityType.airborne.rawValue == 5)
        #expect(CLDeviceOrientation.faceDown.rawValue == 6)
        #expect(CLProximity.far.rawValue == 3 && CLRegionState.outside.rawValue == 2)
    }

    @Test func `equals itself and its copy only`() {
        let place = CLLocation(latitude: 1, longitude: 2)
        #expect(place == place)
        #expect(place.copy() as? CLLocation === place)
        #expect(place != CLLocation(latitude: 1, longitude: 2))
    }
}
