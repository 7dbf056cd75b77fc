//! What the synthetic patients are drawn from: shares in a thousand.
//!
//! The shares are invented. They are shaped after what is commonly known of hospitals (hearts fail late, bones break
//! early) and stand for no real place.

/// A thing that takes what the shares leave of a thousand, and the others with their shares.
pub(super) type Table<T> = (T, &'static [(T, u32)]);

/// Decades of age.
pub(super) const AGE: Table<u32> =
    (9, &[(0, 85), (1, 55), (2, 105), (3, 115), (4, 115), (5, 145), (6, 155), (7, 135), (8, 75)]);

/// Women in a hundred, by decade of age.
pub(super) const FEMALE: [u32; 10] = [49, 49, 54, 54, 50, 49, 49, 52, 59, 68];

/// A part of town.
#[derive(Debug)]
pub(super) struct District {
    /// The first digits of its zip codes.
    pub prefix: &'static str,
    pub centre: bool,
    pub nationalities: Table<&'static str>,
}

const fn district(prefix: &'static str, centre: bool, nationalities: Table<&'static str>) -> District {
    District { prefix, centre, nationalities }
}

pub(super) const DISTRICTS: Table<&District> = (
    &district("150", false, OUTSKIRTS),
    &[
        (&district("101", true, MIXED), 120),
        (&district("102", true, MIXED), 110),
        (&district("103", true, MIXED), 80),
        (&district("110", false, LATIN), 110),
        (&district("111", false, LATIN), 70),
        (&district("120", false, ASIAN), 90),
        (&district("121", false, ASIAN), 60),
        (&district("130", false, AFRICAN), 80),
        (&district("131", false, EUROPEAN), 80),
        (&district("140", false, OUTSKIRTS), 80),
        (&district("141", false, OUTSKIRTS), 70),
    ],
);

/// The last digits of a zip code.
pub(super) const SUFFIXES: Table<&str> =
    ("18", &[("01", 310), ("02", 220), ("05", 150), ("07", 110), ("10", 80), ("12", 60), ("15", 40)]);

const MIXED: Table<&str> = (
    "USA",
    &[
        ("Canada", 40),
        ("Mexico", 45),
        ("Brazil", 30),
        ("Germany", 35),
        ("France", 30),
        ("Poland", 20),
        ("Italy", 25),
        ("India", 60),
        ("China", 60),
        ("Japan", 30),
        ("Vietnam", 20),
        ("Nigeria", 25),
        ("Egypt", 20),
        ("Ethiopia", 15),
    ],
);
const LATIN: Table<&str> = (
    "USA",
    &[("Mexico", 240), ("Brazil", 90), ("Canada", 10), ("Italy", 15), ("India", 15), ("China", 15), ("Nigeria", 10)],
);
const ASIAN: Table<&str> = (
    "USA",
    &[("China", 150), ("Vietnam", 110), ("India", 100), ("Japan", 40), ("Mexico", 25), ("Germany", 10), ("Egypt", 10)],
);
const AFRICAN: Table<&str> = (
    "USA",
    &[("Nigeria", 130), ("Ethiopia", 90), ("Egypt", 70), ("Mexico", 30), ("France", 20), ("India", 15), ("Brazil", 10)],
);
const EUROPEAN: Table<&str> = (
    "USA",
    &[("Poland", 120), ("Italy", 90), ("Germany", 60), ("France", 30), ("Mexico", 20), ("Canada", 20), ("China", 15)],
);
const OUTSKIRTS: Table<&str> = (
    "USA",
    &[("Canada", 20), ("Mexico", 25), ("Germany", 10), ("Italy", 5), ("India", 10), ("China", 8), ("Nigeria", 4)],
);

/// What an education opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schooling {
    Basic,
    Trained,
    Academic,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Education {
    pub name: &'static str,
    pub group: Schooling,
}

const fn education(name: &'static str, group: Schooling) -> Education {
    Education { name, group }
}

const NONE: Education = education("No schooling", Schooling::Basic);
const ELEMENTARY: Education = education("Primary", Schooling::Basic);
const LOWER_SECONDARY: Education = education("Lower secondary", Schooling::Basic);
const UPPER_SECONDARY: Education = education("Upper secondary", Schooling::Trained);
const VOCATIONAL: Education = education("Vocational", Schooling::Trained);
const BACHELOR: Education = education("Bachelor", Schooling::Academic);
const MASTER: Education = education("Master", Schooling::Academic);
const DOCTORATE: Education = education("Doctorate", Schooling::Academic);

pub(super) const PRESCHOOL: Table<Education> = (NONE, &[]);
pub(super) const PRIMARY: Table<Education> = (ELEMENTARY, &[(NONE, 120)]);
pub(super) const LOWER: Table<Education> = (LOWER_SECONDARY, &[(ELEMENTARY, 400)]);
pub(super) const UPPER: Table<Education> = (LOWER_SECONDARY, &[(UPPER_SECONDARY, 380)]);
pub(super) const YOUNG: Table<Education> =
    (UPPER_SECONDARY, &[(LOWER_SECONDARY, 140), (VOCATIONAL, 200), (BACHELOR, 140), (MASTER, 10)]);
pub(super) const MODERN: Table<Education> = (
    UPPER_SECONDARY,
    &[(ELEMENTARY, 20), (LOWER_SECONDARY, 120), (VOCATIONAL, 290), (BACHELOR, 210), (MASTER, 90), (DOCTORATE, 10)],
);
pub(super) const MODERN_CENTRE: Table<Education> = (
    UPPER_SECONDARY,
    &[(ELEMENTARY, 20), (LOWER_SECONDARY, 70), (VOCATIONAL, 160), (BACHELOR, 310), (MASTER, 210), (DOCTORATE, 40)],
);
pub(super) const MIDDLE: Table<Education> = (
    UPPER_SECONDARY,
    &[(ELEMENTARY, 50), (LOWER_SECONDARY, 200), (VOCATIONAL, 330), (BACHELOR, 110), (MASTER, 60), (DOCTORATE, 8)],
);
pub(super) const MIDDLE_CENTRE: Table<Education> = (
    UPPER_SECONDARY,
    &[(ELEMENTARY, 40), (LOWER_SECONDARY, 130), (VOCATIONAL, 230), (BACHELOR, 210), (MASTER, 140), (DOCTORATE, 30)],
);
pub(super) const OLD: Table<Education> = (
    VOCATIONAL,
    &[
        (NONE, 10),
        (ELEMENTARY, 170),
        (LOWER_SECONDARY, 290),
        (UPPER_SECONDARY, 170),
        (BACHELOR, 60),
        (MASTER, 40),
        (DOCTORATE, 8),
    ],
);

#[derive(Debug, Clone, Copy)]
pub(super) struct Occupation {
    pub name: &'static str,
    /// Whether the body does the work.
    pub manual: bool,
}

const fn works(name: &'static str) -> Occupation {
    Occupation { name, manual: false }
}

const fn toils(name: &'static str) -> Occupation {
    Occupation { name, manual: true }
}

pub(super) const INFANT: Table<Occupation> = (works("Child"), &[]);
pub(super) const PUPIL: Table<Occupation> = (works("Pupil"), &[]);
pub(super) const STUDENT: Table<Occupation> = (
    works("Student"),
    &[
        (works("Sales"), 120),
        (works("Clerk"), 70),
        (works("Cook"), 60),
        (works("Nurse"), 50),
        (works("Unemployed"), 80),
        (toils("Builder"), 50),
        (toils("Mechanic"), 50),
        (toils("Factory worker"), 50),
    ],
);
pub(super) const PENSIONER: Table<Occupation> =
    (works("Retired"), &[(works("Manager"), 15), (works("Physician"), 8), (toils("Farmer"), 20), (works("Clerk"), 12)]);
pub(super) const BASIC_WOMEN: Table<Occupation> = (
    works("Unemployed"),
    &[
        (works("Homemaker"), 180),
        (toils("Cleaner"), 240),
        (works("Sales"), 190),
        (works("Cook"), 110),
        (toils("Factory worker"), 120),
        (toils("Farmer"), 30),
    ],
);
pub(super) const BASIC_MEN: Table<Occupation> = (
    works("Unemployed"),
    &[
        (toils("Builder"), 240),
        (toils("Driver"), 200),
        (toils("Factory worker"), 220),
        (toils("Cleaner"), 60),
        (works("Cook"), 80),
        (toils("Farmer"), 60),
    ],
);
pub(super) const TRAINED_WOMEN: Table<Occupation> = (
    works("Clerk"),
    &[
        (works("Nurse"), 200),
        (works("Sales"), 200),
        (works("Accountant"), 90),
        (works("Cook"), 60),
        (works("Police officer"), 20),
        (works("Homemaker"), 90),
        (toils("Factory worker"), 50),
        (works("Unemployed"), 50),
    ],
);
pub(super) const TRAINED_MEN: Table<Occupation> = (
    works("Clerk"),
    &[
        (toils("Mechanic"), 190),
        (toils("Builder"), 150),
        (toils("Driver"), 130),
        (works("Sales"), 110),
        (works("Police officer"), 70),
        (works("Accountant"), 50),
        (works("Nurse"), 30),
        (toils("Farmer"), 40),
        (works("Unemployed"), 60),
    ],
);
pub(super) const ACADEMIC: Table<Occupation> = (
    works("Manager"),
    &[
        (works("Engineer"), 200),
        (works("Teacher"), 210),
        (works("Physician"), 80),
        (works("Lawyer"), 70),
        (works("Scientist"), 60),
        (works("Accountant"), 130),
        (works("Nurse"), 40),
        (works("Unemployed"), 20),
    ],
);

#[derive(Debug, Clone, Copy)]
pub(super) struct Diagnosis {
    pub name: &'static str,
    /// What a stay usually costs.
    pub cost: u32,
}

const fn diagnosis(name: &'static str, cost: u32) -> Diagnosis {
    Diagnosis { name, cost }
}

const FLU: Diagnosis = diagnosis("Flu", 1_800);
const ASTHMA: Diagnosis = diagnosis("Asthma", 2_600);
const APPENDICITIS: Diagnosis = diagnosis("Appendicitis", 7_500);
const FRACTURE: Diagnosis = diagnosis("Fracture", 6_800);
const BACK_PAIN: Diagnosis = diagnosis("Back pain", 3_200);
const GASTRITIS: Diagnosis = diagnosis("Gastritis", 2_400);
const PNEUMONIA: Diagnosis = diagnosis("Pneumonia", 6_200);
const DIABETES: Diagnosis = diagnosis("Diabetes", 4_900);
const HYPERTENSION: Diagnosis = diagnosis("Hypertension", 2_900);
const HEART_DISEASE: Diagnosis = diagnosis("Heart disease", 14_500);
const STROKE: Diagnosis = diagnosis("Stroke", 17_800);
const CANCER: Diagnosis = diagnosis("Cancer", 21_000);
const PROSTATE: Diagnosis = diagnosis("Prostate disease", 8_300);
const PREGNANCY: Diagnosis = diagnosis("Pregnancy", 5_400);
const DEPRESSION: Diagnosis = diagnosis("Depression", 5_900);
const HEPATITIS: Diagnosis = diagnosis("Hepatitis", 9_200);
const HIV: Diagnosis = diagnosis("HIV", 11_500);

pub(super) const CHILD: Table<Diagnosis> = (
    FLU,
    &[
        (ASTHMA, 190),
        (APPENDICITIS, 130),
        (FRACTURE, 200),
        (GASTRITIS, 70),
        (PNEUMONIA, 130),
        (DIABETES, 25),
        (CANCER, 12),
    ],
);
pub(super) const YOUNG_WOMAN: Table<Diagnosis> = (
    FLU,
    &[
        (PREGNANCY, 330),
        (DEPRESSION, 120),
        (APPENDICITIS, 80),
        (FRACTURE, 70),
        (GASTRITIS, 90),
        (ASTHMA, 60),
        (BACK_PAIN, 60),
        (CANCER, 40),
        (DIABETES, 25),
        (HEPATITIS, 15),
        (HIV, 10),
    ],
);
pub(super) const YOUNG_MAN: Table<Diagnosis> = (
    FLU,
    &[
        (FRACTURE, 200),
        (APPENDICITIS, 130),
        (DEPRESSION, 120),
        (GASTRITIS, 120),
        (ASTHMA, 80),
        (BACK_PAIN, 80),
        (HEPATITIS, 35),
        (HIV, 35),
        (DIABETES, 40),
        (CANCER, 25),
    ],
);
pub(super) const YOUNG_MANUAL: Table<Diagnosis> = (
    FLU,
    &[
        (FRACTURE, 320),
        (BACK_PAIN, 190),
        (APPENDICITIS, 100),
        (GASTRITIS, 90),
        (DEPRESSION, 60),
        (ASTHMA, 50),
        (HEPATITIS, 30),
        (HIV, 25),
        (DIABETES, 35),
        (CANCER, 20),
    ],
);
pub(super) const MIDDLE_AGED: Table<Diagnosis> = (
    FLU,
    &[
        (HEART_DISEASE, 170),
        (CANCER, 150),
        (HYPERTENSION, 150),
        (DIABETES, 130),
        (DEPRESSION, 80),
        (BACK_PAIN, 80),
        (GASTRITIS, 60),
        (STROKE, 50),
        (FRACTURE, 40),
        (HEPATITIS, 20),
        (HIV, 12),
    ],
);
pub(super) const MIDDLE_MANUAL: Table<Diagnosis> = (
    FLU,
    &[
        (BACK_PAIN, 230),
        (HEART_DISEASE, 170),
        (HYPERTENSION, 130),
        (FRACTURE, 120),
        (CANCER, 110),
        (DIABETES, 90),
        (STROKE, 45),
        (GASTRITIS, 40),
        (HEPATITIS, 20),
        (HIV, 8),
    ],
);
pub(super) const OLD_WOMAN: Table<Diagnosis> = (
    PNEUMONIA,
    &[
        (HEART_DISEASE, 240),
        (FRACTURE, 170),
        (STROKE, 130),
        (CANCER, 120),
        (HYPERTENSION, 100),
        (DIABETES, 100),
        (DEPRESSION, 40),
        (FLU, 30),
    ],
);
pub(super) const OLD_MAN: Table<Diagnosis> = (
    PNEUMONIA,
    &[
        (HEART_DISEASE, 270),
        (CANCER, 150),
        (STROKE, 130),
        (PROSTATE, 120),
        (HYPERTENSION, 80),
        (DIABETES, 100),
        (FRACTURE, 60),
        (FLU, 25),
        (DEPRESSION, 15),
    ],
);
